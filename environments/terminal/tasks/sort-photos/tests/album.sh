# Every photo of the album with what it shows.
find album -type f | LC_ALL=C sort | while IFS= read -r path; do printf '%s: %s\n' "$path" "$(cat "$path")"; done
