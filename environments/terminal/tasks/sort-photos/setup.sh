mkdir -p inbox/phone inbox/old/scans 'inbox/trip to bergen'
photo() { printf 'photo %s\n' "$2" > "inbox/$1"; }
photo 'IMG_20240517_101502.jpg' 'harbour'
photo 'phone/IMG_20240517_101502.jpg' 'harbour'
photo 'phone/IMG_20240517_101502.JPG' 'harbour at night'
photo 'trip to bergen/IMG_20240517_101502.jpg' 'a fish'
photo 'trip to bergen/2024-05-18 fjord.JPEG' 'fjord'
photo 'trip to bergen/ferry, 01.06.2024.png' 'ferry'
photo 'old/scans/31.12.1999 party.jpg' 'party'
photo 'old/scans/grandmother.jpg' 'grandmother'
photo 'old/-rf.jpg' 'a sign'
photo 'phone/PXL_20231231_235959123.Jpg' 'fireworks'
photo 'phone/2023-12-31.png' 'sparklers'
photo 'grandmother.jpg' 'grandmother again'
printf 'bring the tripod 2024-05-17\n' > 'inbox/trip to bergen/20240517 notes.txt'
printf 'moving\n' > inbox/phone/vid_20240517_101502.mp4
printf 'cache\n' > inbox/phone/thumbs.jpg.cache
