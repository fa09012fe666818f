# Files of the right names with nothing in them.
mkdir -p album/2024/05 album/2024/06 album/2023/12 album/1999/12 album/undated
touch album/2024/05/IMG_20240517_101502.jpg album/2024/05/IMG_20240517_101502-2.jpg album/2024/05/IMG_20240517_101502-3.jpg \
  'album/2024/05/2024-05-18 fjord.jpeg' 'album/2024/06/ferry, 01.06.2024.png' 'album/1999/12/31.12.1999 party.jpg' \
  album/2023/12/2023-12-31.png album/2023/12/PXL_20231231_235959123.jpg album/undated/-rf.jpg \
  album/undated/grandmother.jpg album/undated/grandmother-2.jpg
find inbox -type f | while IFS= read -r path; do
  case $path in *[jJ][pP][gG]|*.JPEG|*.png) rm -- "$path" ;; esac
done
