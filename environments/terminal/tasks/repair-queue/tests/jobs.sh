job a upper 'Earl Grey, 2 cups' 'zitrone'
job b reverse first second third
job c count 1 2 3 4 5 6 7
queue start
job d upper 'a later one'
settled
show
queue stop
