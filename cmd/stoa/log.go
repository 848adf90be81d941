package main

import (
	"io"
	"log/slog"
	"os"

	"golang.org/x/sys/unix"
)

// logSettings say how a process tells what it does. Logs never hold a token, a code, a key, a ciphertext or a password.
type logSettings struct {
	LogFormat string     `default:"auto" enum:"auto,text,json" help:"text or json; auto: text on a terminal, else json."`
	LogLevel  slog.Level `default:"info" help:"debug, info, warn or error."`
}

// logger writes to the file in the format that was set.
func (s logSettings) logger(to *os.File) *slog.Logger {
	format := s.LogFormat
	if format == "auto" && isTerminal(to) {
		format = "text"
	}
	return slog.New(handler(format, to, &slog.HandlerOptions{Level: s.LogLevel}))
}

func handler(format string, to io.Writer, options *slog.HandlerOptions) slog.Handler {
	if format == "text" {
		return slog.NewTextHandler(to, options)
	}
	return slog.NewJSONHandler(to, options)
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
