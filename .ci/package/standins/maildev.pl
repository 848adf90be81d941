# Takes mails by SMTP on port 1025 and prints them.
use strict;
use warnings;
use IO::Socket::INET;

$| = 1;
$SIG{TERM} = sub { exit };
my $listener = IO::Socket::INET->new(LocalPort => 1025, Listen => 16, ReuseAddr => 1) or die $!;
while (my $client = $listener->accept) {
	print $client "220 maildev\r\n";
	my $text = 0;
	while (my $line = <$client>) {
		print $line;
		if ($text) {
			next if $line !~ /^\.\r?\n/;
			$text = 0;
		} elsif ($line =~ /^DATA/i) {
			$text = 1;
			print $client "354 go on\r\n";
			next;
		} elsif ($line =~ /^QUIT/i) {
			print $client "221 bye\r\n";
			last;
		}
		print $client "250 ok\r\n";
	}
	close $client;
}
