// Ends at once, with last words.

process.stderr.write('the core was built for another runtime\n');
process.exit(1);
