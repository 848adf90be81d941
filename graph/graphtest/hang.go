package graphtest

import (
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Hangable starts a proxy to the server of a URL and returns the URL through it. While hung is set the proxy accepts everything and
// forwards no answer, as a server does that has been stopped or cut off.
func Hangable(t testing.TB, dsn string) (through string, hung *atomic.Bool) {
	t.Helper()
	server, err := url.Parse(dsn)
	require.NoError(t, err)
	near, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = near.Close() })
	network, target := place(server)
	hung = new(atomic.Bool)
	go func() {
		for {
			client, err := near.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial(network, target)
			if err != nil {
				_ = client.Close()
				continue
			}
			go func() {
				_, _ = io.Copy(far, client)
				_ = far.Close()
			}()
			go func() {
				defer client.Close()
				buffer := make([]byte, 4096)
				for {
					n, err := far.Read(buffer)
					if err != nil {
						return
					}
					if hung.Load() {
						continue // swallowed
					}
					if _, err := client.Write(buffer[:n]); err != nil {
						return
					}
				}
			}()
		}
	}()
	query := server.Query()
	query.Del("host")
	query.Del("port")
	server.Host, server.RawQuery = near.Addr().String(), query.Encode()
	return server.String(), hung
}

// place is where a server listens: an address, or a socket in a folder.
func place(dsn *url.URL) (network, address string) {
	if folder := dsn.Query().Get("host"); folder != "" {
		return "unix", filepath.Join(folder, ".s.PGSQL."+dsn.Query().Get("port"))
	}
	return "tcp", dsn.Host
}
