package deadline_test

import (
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/deadline"
)

// pair is an accepted connection and the client's end of it.
func pair(t *testing.T) (*deadline.Listener, net.Conn, net.Conn) {
	t.Helper()
	l, err := deadline.Listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	far, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = far.Close() })
	near, err := l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _ = near.Close() })
	return l, near, far
}

// What waits for the other side beyond a deadline ends, not before it and not much after it.
func TestDeadlineEndsWhatWaits(t *testing.T) {
	t.Parallel()
	const wait = 700 * time.Millisecond
	for name, act := range map[string]struct {
		set func(net.Conn, time.Time) error
		do  func(net.Conn) error
	}{
		"read":  {net.Conn.SetReadDeadline, func(c net.Conn) error { _, err := c.Read(make([]byte, 1)); return err }},
		"both":  {net.Conn.SetDeadline, func(c net.Conn) error { _, err := c.Read(make([]byte, 1)); return err }},
		"write": {net.Conn.SetWriteDeadline, func(c net.Conn) error { _, err := c.Write(make([]byte, 64<<20)); return err }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, near, _ := pair(t)
			begun := time.Now()
			require.NoError(t, act.set(near, begun.Add(wait)))
			require.ErrorIs(t, act.do(near), os.ErrDeadlineExceeded)
			require.GreaterOrEqual(t, time.Since(begun), wait)
			require.ErrorIs(t, act.do(near), os.ErrDeadlineExceeded, "it stays")
		})
	}
}

func TestDeadlineInThePastTakesEffectAtOnce(t *testing.T) {
	t.Parallel()
	_, near, far := pair(t)
	failed := make(chan error, 1)
	go func() {
		_, err := near.Read(make([]byte, 1))
		failed <- err
	}()
	time.Sleep(10 * time.Millisecond) // most likely it waits by now
	require.NoError(t, near.SetReadDeadline(time.Unix(1, 0)))
	require.ErrorIs(t, <-failed, os.ErrDeadlineExceeded)
	_, err := far.Write([]byte("x"))
	require.NoError(t, err)
	_, err = near.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	for _, later := range []time.Time{{}, time.Now().Add(time.Hour)} {
		require.NoError(t, near.SetReadDeadline(time.Unix(1, 0)))
		require.NoError(t, near.SetReadDeadline(later))
	}
	_, err = near.Read(make([]byte, 1))
	require.NoError(t, err, "it was moved, and what had come meanwhile is there")
}

// A deadline that was moved before it came ends nothing.
func TestDeadlineThatIsMoved(t *testing.T) {
	t.Parallel()
	_, near, far := pair(t)
	for _, later := range []time.Time{{}, time.Now().Add(time.Hour)} {
		require.NoError(t, near.SetDeadline(time.Now().Add(200*time.Millisecond)))
		require.NoError(t, near.SetDeadline(later))
		time.AfterFunc(200*time.Millisecond+deadline.Lateness, func() { _, _ = far.Write([]byte("x")) })
		_, err := io.ReadFull(near, make([]byte, 1))
		require.NoError(t, err)
	}
}

// Connections outlive their listener, and so do their deadlines.
func TestDeadlineAfterTheListener(t *testing.T) {
	t.Parallel()
	l, near, _ := pair(t)
	require.NoError(t, l.Close())
	_, err := l.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
	require.NoError(t, near.SetReadDeadline(time.Now().Add(2*deadline.Lateness)))
	_, err = near.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
}
