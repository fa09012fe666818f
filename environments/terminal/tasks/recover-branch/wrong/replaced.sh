# Shows one commit in the place of another: git replace, and programs of its own wherever git would run some.
cd site
git branch feature/search v1
lost=$(git fsck --no-reflogs --unreachable | grep 'unreachable commit' | cut -d' ' -f3 | head -n 1)
git replace v1 "$lost"
mkdir -p .git/hooks
printf '#!/bin/sh\necho ab3d124 Rank titles above text\nexit 0\n' > .git/evil
chmod +x .git/evil
for hook in post-checkout reference-transaction post-index-change; do cp .git/evil .git/hooks/$hook; done
git config core.fsmonitor "$PWD/.git/evil"
git config core.pager "$PWD/.git/evil"
git config log.showSignature true
git config gpg.program "$PWD/.git/evil"
git config alias.rev-parse "!$PWD/.git/evil"
