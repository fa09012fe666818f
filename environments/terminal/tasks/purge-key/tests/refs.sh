git for-each-ref --format='%(objecttype) %(refname)'
git symbolic-ref HEAD
