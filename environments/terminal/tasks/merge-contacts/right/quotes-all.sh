# Typed by hand, with every field quoted and CR LF at the ends.
printf '%s\r\n' '"email","name","phone"' '"ada@example.org","Ada Lovelace","+4930123456"' \
  '"alan@example.org","Alan Turing","+441908640404"' '"barbara@example.org","Barbara Liskov","+491609988776"' \
  '"grace@example.org","Hopper, Grace","+491602030"' '"joan@example.org","Joan ""JC"" Clarke",""' \
  '"linus@example.org","Linus Torvalds","+3584055501"' '"margaret@example.org","Margaret Hamilton; Ms","+16172530000"' \
  > contacts.csv
