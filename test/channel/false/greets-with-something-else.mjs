// Some other program that the settings named by mistake.

process.stdout.write('Welcome to the other program, type help.\n');
setInterval(() => {}, 1000);
