cat report/README
tail -n 2 report/regions/west.csv
