# Every file of the report with its sum.
find report -type f | LC_ALL=C sort | while IFS= read -r path; do echo "$path $(sha256sum < "$path" | cut -d' ' -f1)"; done
