// Package load generates load: callers that each send one request after the other on their own keep-alive connection (a closed
// loop), with the latency of every request. A request costs the client a few microseconds. A Client belongs to one goroutine.
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

const (
	requestTimeout = 20 * time.Second
	bufferSize     = 64 << 10
)

var errNoLength = errors.New("load: a response without Content-Length")

// Client is one keep-alive connection to an HTTP server.
type Client struct {
	// Took, if set, gets the duration of each answered request.
	Took func(time.Duration)

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

// Address is the server's host:port.
func (c *Client) Address() string { return c.conn.RemoteAddr().String() }

// Last returns the body of the last response, until the next call of Do.
func (c *Client) Last() []byte { return c.body }

// Do sends a request made by AppendRequest and reads the whole response. The next call overwrites the body.
func (c *Client) Do(request []byte) (status int, body []byte, err error) {
	begun := time.Now()
	if err := c.conn.SetDeadline(time.Now().Add(requestTimeout)); err != nil {
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
	if _, err = io.ReadFull(c.in, c.body); err == nil && c.Took != nil {
		c.Took(time.Since(begun))
	}
	return status, c.body, err
}

// Expect calls Do and returns an error for any other status than want.
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

// readStatus returns the code of a status line such as HTTP/1.1 200 OK.
func readStatus(line []byte) (int, error) {
	_, rest, ok := bytes.Cut(line, []byte(" "))
	const digits = 3
	if !ok || len(rest) < digits {
		return 0, fmt.Errorf("load: not a status line: %q", line)
	}
	return strconv.Atoi(string(rest[:digits]))
}

// AppendRequest appends an HTTP request to b: with a bearer token unless it is empty, and with a JSON body unless it is nil.
func AppendRequest(b []byte, method, path, token string, body []byte) []byte {
	b = append(b, method...)
	b = append(b, ' ')
	b = append(b, path...)
	b = append(b, " HTTP/1.1\r\nHost: bench\r\n"...)
	if token != "" {
		b = append(b, "Authorization: Bearer "...)
		b = append(b, token...)
		b = append(b, "\r\n"...)
	}
	if body != nil {
		b = append(b, "Content-Type: application/json\r\nContent-Length: "...)
		b = strconv.AppendInt(b, int64(len(body)), 10)
		b = append(b, "\r\n"...)
	}
	b = append(b, "\r\n"...)
	return append(b, body...)
}
