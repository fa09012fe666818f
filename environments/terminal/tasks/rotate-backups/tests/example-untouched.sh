find backups -type f | LC_ALL=C sort | while IFS= read -r path; do echo "$path: $(cat "$path")"; done
