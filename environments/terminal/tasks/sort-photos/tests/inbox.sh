# What is no photo, where it was.
find inbox -type f | LC_ALL=C sort | while IFS= read -r path; do printf '%s: %s\n' "$path" "$(cat "$path")"; done
