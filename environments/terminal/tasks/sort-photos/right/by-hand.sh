# Looks at the files and moves them one by one; takes the empty folders away too.
mkdir -p album/2024/05 album/2024/06 album/2023/12 album/1999/12 album/undated
cd inbox
mv IMG_20240517_101502.jpg ../album/2024/05/
rm phone/IMG_20240517_101502.jpg
mv 'trip to bergen/IMG_20240517_101502.jpg' ../album/2024/05/IMG_20240517_101502-3.jpg
mv phone/IMG_20240517_101502.JPG ../album/2024/05/IMG_20240517_101502-2.jpg
mv 'trip to bergen/2024-05-18 fjord.JPEG' '../album/2024/05/2024-05-18 fjord.jpeg'
mv 'trip to bergen/ferry, 01.06.2024.png' ../album/2024/06/
mv 'old/scans/31.12.1999 party.jpg' ../album/1999/12/
mv phone/2023-12-31.png ../album/2023/12/
mv phone/PXL_20231231_235959123.Jpg ../album/2023/12/PXL_20231231_235959123.jpg
mv grandmother.jpg ../album/undated/
mv old/scans/grandmother.jpg ../album/undated/grandmother-2.jpg
mv -- old/-rf.jpg ../album/undated/
rm -r old
