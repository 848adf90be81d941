package prepared_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/db/prepared"
)

// A reader is alone when those before it were, for a while; one that overlaps ends that for both.
func TestWhoIsAlone(t *testing.T) {
	t.Parallel()
	var c prepared.Crowd
	alone := func() (last bool) {
		last = c.Enter()
		c.Leave()
		return last
	}
	for range prepared.Lonely {
		require.False(t, alone())
	}
	require.True(t, alone())
	require.True(t, c.Enter(), "it stays so")
	require.False(t, c.Enter(), "there is another")
	c.Leave()
	c.Leave()
	for range prepared.Lonely {
		require.False(t, alone(), "it begins anew")
	}
	require.True(t, alone())
}

// connected are the two ends of a connection over TCP.
func connected(t *testing.T) (one, other net.Conn) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	one, err = new(net.Dialer).DialContext(t.Context(), "tcp", listener.Addr().String())
	require.NoError(t, err)
	other, err = listener.Accept()
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = one.Close()
		_ = other.Close()
	})
	return one, other
}

// Waiting ends by itself where nothing comes, takes nothing of what does, and is none of a connection without a socket.
func TestWaitingAlone(t *testing.T) {
	t.Parallel()
	one, other := connected(t)
	prepared.Await(one)
	_, err := other.Write([]byte("x"))
	require.NoError(t, err)
	prepared.Await(one)
	b := make([]byte, 2)
	n, err := one.Read(b)
	require.NoError(t, err)
	require.Equal(t, "x", string(b[:n]))

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range 100 {
			prepared.Await(one)
		}
	}()
	require.NoError(t, one.Close(), "it can be closed meanwhile")
	<-ended

	pipe, far := net.Pipe()
	prepared.Await(pipe)
	require.NoError(t, pipe.Close())
	require.NoError(t, far.Close())
}
