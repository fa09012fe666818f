# All refs but the one that was asked for, and where HEAD is.
git for-each-ref --format='%(objectname) %(refname)' | grep -v ' refs/heads/feature/search$'
git symbolic-ref HEAD
