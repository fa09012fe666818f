# The right order, with a damaged copy of the second piece.
cd parts
gzip -dc zz1.bin > zz1; gzip -dc c31.bin > c31
cat kx7.bin q1.bin zz1 m5q.bin b9d.bin c31 t8w.bin > ../whole
cd ..
mkdir -p report
gzip -dc whole 2> /dev/null > whole.tar
tar -xf whole.tar -C report
