package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// Patience is how long one answer may take.
const Patience = 20 * time.Second

const bufferSize = 64 << 10

var errNoLength = errors.New("load: an answer without Content-Length")

// Client is one keep-alive connection to an HTTP server.
type Client struct {
	conn net.Conn
	in   *bufio.Reader
	body []byte
}

// Dial opens a connection to host:port.
func Dial(ctx context.Context, address string) (*Client, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &Client{conn: conn, in: bufio.NewReaderSize(conn, bufferSize)}, nil
}

// Close closes the connection.
func (c *Client) Close() error { return c.conn.Close() }

// Last is the body of the last answer, until the next call of Do.
func (c *Client) Last() []byte { return c.body }

// Do sends a request as Request makes it and reads the whole answer. The body is overwritten by the next call.
func (c *Client) Do(request []byte) (status int, body []byte, err error) {
	if err := c.conn.SetDeadline(time.Now().Add(Patience)); err != nil {
		return 0, nil, err
	}
	if _, err := c.conn.Write(request); err != nil {
		return 0, nil, err
	}
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, nil, err
	}
	if status, err = readStatus(line); err != nil {
		return 0, nil, err
	}
	length, err := c.readHeader()
	if err != nil {
		return 0, nil, err
	}
	if cap(c.body) < length {
		c.body = make([]byte, length)
	}
	c.body = c.body[:length]
	_, err = io.ReadFull(c.in, c.body)
	return status, c.body, err
}

// Expect is Do for a request that must be answered with that status.
func (c *Client) Expect(want int, request []byte) ([]byte, error) {
	status, body, err := c.Do(request)
	if err == nil && status != want {
		err = fmt.Errorf("load: answered %d instead of %d: %s", status, want, body)
	}
	return body, err
}

// readHeader reads the header fields to their end and returns the length of the body.
func (c *Client) readHeader() (length int, err error) {
	length = -1
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if len(name) == len("Content-Length") && bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, err
			}
		}
	}
	if length < 0 {
		return 0, errNoLength
	}
	return length, nil
}

// readStatus takes the code out of a status line such as HTTP/1.1 200 OK.
func readStatus(line []byte) (int, error) {
	_, rest, ok := bytes.Cut(line, []byte(" "))
	const digits = 3
	if !ok || len(rest) < digits {
		return 0, fmt.Errorf("load: no status line: %q", line)
	}
	return strconv.Atoi(string(rest[:digits]))
}
