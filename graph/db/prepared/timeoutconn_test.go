package prepared_test

import (
	"context"
	"database/sql"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/db/prepared"
	"stoa/graph/fault"
)

// hangable leads to the server of the dsn, and forwards nothing more to the
// client while hung is set.
func hangable(t *testing.T, dsn string) (through string, hung *atomic.Bool) {
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

// A server that takes what it is asked and says nothing is given up, whether or
// not the caller's context ends, and is used again when it answers.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	for name, patient := range map[string]bool{"patient": true, "cancelled": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			through, hung := hangable(t, withSetting(t, w.dsn, "statement_timeout", "300"))
			connector, err := prepared.NewConnector(through)
			require.NoError(t, err)
			db := sql.OpenDB(connector)
			db.SetMaxOpenConns(1)
			t.Cleanup(func() { require.NoError(t, db.Close()) })
			require.Equal(t, 1, one[int](t, db, "SELECT $1::int", 1))

			hung.Store(true)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if !patient {
				time.AfterFunc(50*time.Millisecond, cancel)
			}
			failed := make(chan error, 1)
			go func() {
				var n int
				failed <- db.QueryRowContext(ctx, "SELECT $1::int", 2).Scan(&n)
			}()
			select {
			case err = <-failed:
			case <-time.After(time.Minute):
				t.Fatal("the read never ended")
			}
			require.Equal(t, fault.ServiceUnavailable, fault.From(err).Code, "%v", err)

			hung.Store(false)
			eventually(t, "the server answers again", func() bool {
				var n int
				return db.QueryRowContext(t.Context(), "SELECT $1::int", 3).Scan(&n) == nil && n == 3
			})
		})
	}
}

// What a statement may take is not silence.
func TestSlowStatementIsNotSilence(t *testing.T) {
	t.Parallel()
	w := setup(t)
	connector, err := prepared.NewConnector(withSetting(t, w.dsn, "statement_timeout", "200"))
	require.NoError(t, err)
	db := sql.OpenDB(connector)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	_, err = db.ExecContext(t.Context(), "SELECT pg_sleep($1)", 60)
	require.ErrorContains(t, err, "statement timeout")
}
