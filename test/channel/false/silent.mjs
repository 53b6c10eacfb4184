// Starts and never says a word.

setInterval(() => {}, 1000);
