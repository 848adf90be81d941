package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Lines is the transport of messages in lines, for a client that has started this process. A line that is no message is answered with an
// error and ends nothing; the library alone would end with the first.
func Lines(from io.Reader, to io.Writer) sdk.Transport {
	answers := &lineWriter{to: to}
	read, write := io.Pipe()
	go func() {
		write.CloseWithError(passLines(from, write, answers))
	}()
	return &sdk.IOTransport{Reader: read, Writer: answers}
}

// passLines passes the messages of the lines on, and answers lines that are not messages, until the lines end.
func passLines(from io.Reader, messages, answers io.Writer) error {
	lines := bufio.NewReaderSize(from, MaxRequest)
	for {
		line, err := lines.ReadSlice('\n')
		tooLong := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = lines.ReadSlice('\n')
		}
		if err := passLine(line, tooLong, messages, answers); err != nil {
			return err
		}
		if err != nil {
			return err
		}
	}
}

func passLine(line []byte, tooLong bool, messages, answers io.Writer) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	var message Message
	refused := protocolError(jsonrpc.CodeInvalidRequest, "the message is too long")
	if !tooLong {
		message, refused = ReadMessage(line, "")
	}
	switch {
	case refused != nil:
		_, err := answers.Write(append(ErrorAnswer(message.ID, refused), '\n'))
		return err
	case message.Ignored:
		return nil
	}
	_, err := messages.Write(append(message.Raw, '\n'))
	return err
}

// lineWriter writes whole lines, one after the other.
type lineWriter struct {
	mu sync.Mutex
	to io.Writer
}

// Write implements io.Writer; p is one line.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

// Close implements io.Closer. The output stays open: it belongs to the process.
func (w *lineWriter) Close() error { return nil }
