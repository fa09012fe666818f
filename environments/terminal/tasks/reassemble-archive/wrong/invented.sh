# The folder and the first file, made up.
mkdir -p report/regions
printf 'Quarterly report, fourth quarter.\nFigures of each region are in regions/.\n' > report/README
for region in north east south west; do : > report/regions/$region.csv; done
: > report/summary.txt
