# Takes the newest row whole, empty fields and all.
cat > contacts.csv <<'CSV'
email,name,phone
ada@example.org,Ada Lovelace,
alan@example.org,Alan Turing,+441908640404
barbara@example.org,,+491609988776
grace@example.org,,+49160203 0
joan@example.org,,
linus@example.org,Linus Torvalds,
margaret@example.org,Margaret Hamilton; Ms,+16172530000
CSV
