job '1 with spaces  in it' upper alpha
job '-n' upper beta
job '*' upper gamma
job "it's \$HOME" upper delta
job 'a.job' reverse 1 2
queue start
settled
show
queue stop
