# Nothing to commit: what git would say of the index, and of the files, hashed anew.
rm -f .gitattributes
git ls-files -s
git ls-tree -r HEAD
git ls-files | git hash-object --no-filters --stdin-paths
find . -path ./.git -prune -o -type f -print | LC_ALL=C sort
