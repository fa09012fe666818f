/** Problems of our own in the manner of GSM8K, so that the environment runs without its data. Not a benchmark. */
export const sample: readonly { question: string; answer: string }[] = [
  {
    question:
      'Mira plants 4 rows of 6 tulips and 3 rows of 5 daffodils. How many flowers does she plant altogether?',
    answer: '39',
  },
  {
    question:
      'A ferry carries 18 cars on each trip and makes 7 trips a day. On Sunday it makes 3 trips fewer. How many cars can it carry on Sunday?',
    answer: '72',
  },
  {
    question:
      'Tomasz buys 3 notebooks for $4 each and 2 pens for $1.50 each. He pays with a $20 bill. How many dollars of change does he get?',
    answer: '5',
  },
  {
    question:
      'A tank holds 2,500 litres. It is half full when a pump adds 15 litres a minute for 20 minutes. How many litres are in the tank then?',
    answer: '1,550',
  },
  {
    question:
      'In a choir of 60 singers, 45 come to the rehearsal. What percentage of the choir comes to the rehearsal?',
    answer: '75',
  },
  {
    question:
      'The temperature was 6 degrees at noon and fell by 3 degrees every hour. What was the temperature in degrees at 4 in the afternoon?',
    answer: '-6',
  },
  {
    question:
      'A baker makes 96 rolls. She sells three quarters of them before noon and half of the rest after noon. How many rolls are left?',
    answer: '12',
  },
  {
    question:
      'Lena reads 24 pages a day from Monday to Friday and twice as many on each of the two other days. How many pages does she read in a week?',
    answer: '216',
  },
]
