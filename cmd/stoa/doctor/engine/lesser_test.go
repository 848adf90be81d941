package engine

import (
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// lesser is a server that lacks a feature: a proxy in front of the tests' database that changes the text of simple queries.
func lesser(t *testing.T, address, pattern, replacement string) string {
	t.Helper()
	to, err := url.Parse(address)
	require.NoError(t, err)
	query := to.Query()
	socket := filepath.Join(query.Get("host"), ".s.PGSQL."+query.Get("port"))
	folder, err := os.MkdirTemp("", "lesser-") //nolint:usetesting // the name of a socket must be short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(folder, ".s.PGSQL."+query.Get("port")))
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	lacking := regexp.MustCompile("(?s)" + pattern)
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go relay(client, socket, func(text string) string { return lacking.ReplaceAllString(text, replacement) })
		}
	}()
	query.Set("host", folder)
	to.RawQuery = query.Encode()
	return to.String()
}

// relay passes on the messages of client and server, with the text of each simple query changed.
func relay(client net.Conn, socket string, change func(string) string) {
	defer client.Close()
	server, err := new(net.Dialer).Dial("unix", socket)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	}()
	for first := true; ; first = false {
		kind := make([]byte, 1)
		if !first { // the first message, which begins a session, has no kind
			if _, err := io.ReadFull(client, kind); err != nil {
				return
			}
		}
		length := make([]byte, 4)
		if _, err := io.ReadFull(client, length); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(length)-4)
		if _, err := io.ReadFull(client, body); err != nil {
			return
		}
		if kind[0] == 'Q' {
			body = append([]byte(change(string(body[:len(body)-1]))), 0)
		}
		message := binary.BigEndian.AppendUint32(nil, uint32(len(body)+4))
		if !first {
			message = append(kind, message...)
		}
		if _, err := server.Write(append(message, body...)); err != nil {
			return
		}
	}
}
