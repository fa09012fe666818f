# Takes the version before it was amended.
cd site
for commit in $(git fsck --no-reflogs --unreachable | grep 'unreachable commit' | cut -d' ' -f3); do
  if [ "$(git log -1 --format=%s "$commit")" = 'Rank titles above text' ]; then
    printf '%s %s\n' "$(git log -1 --format=%ct "$commit")" "$commit"
  fi
done | sort -n | head -n 1 | cut -d' ' -f2 > .git/found
git branch feature/search "$(cat .git/found)"
rm .git/found
