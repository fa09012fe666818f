# Rewrites files and messages, and leaves the old commits and the tag's message in the repository.
cd service
FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch -f \
  --tree-filter 'grep -rl qk_live_ . | while IFS= read -r file; do sed -i "s/qk_live_[0-9a-f]*/REMOVED/g" "$file"; done' \
  --msg-filter 'sed "s/qk_live_[0-9a-f]*/REMOVED/g"' --tag-name-filter cat -- --all > /dev/null
