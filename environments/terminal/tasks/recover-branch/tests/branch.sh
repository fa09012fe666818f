git rev-parse --verify refs/heads/feature/search
git log --format='%h %s' refs/heads/feature/search
