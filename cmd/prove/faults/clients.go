package faults

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"stoa/cmd/prove/testbed"
)

// slowClientsEach is how many clients of each kind there are.
const slowClientsEach = 66

// slowClients connects misbehaving clients to the servers directly, because the load balancer would shield them. Lifting it ends
// them.
func slowClients(ctx context.Context, bed *testbed.Bed) Lift {
	return beside(ctx, func(ctx context.Context) error {
		var running sync.WaitGroup
		for i := range slowClientsEach {
			server := bed.Servers[i%len(bed.Servers)]
			for kind, client := range []func(context.Context, net.Conn){dripping, deaf, leaving} {
				dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(fmt.Sprintf("127.2.%d.%d", kind, i+1))}}
				running.Go(func() {
					for ctx.Err() == nil {
						if conn, err := dialer.DialContext(ctx, "tcp", server.Address); err == nil { // it may restart
							release := context.AfterFunc(ctx, func() { _ = conn.Close() })
							client(ctx, conn)
							release()
							_ = conn.Close() // closing it is enough
						}
						_ = wait(ctx, time.Second)
					}
				})
			}
		}
		running.Wait()
		return nil
	})
}

// dripping sends an endless request, one byte a second.
func dripping(ctx context.Context, conn net.Conn) {
	const head = "POST /api/v1/messages HTTP/1.1\r\nHost: stoa\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n"
	for i := 0; wait(ctx, time.Second) == nil; i++ {
		if _, err := conn.Write([]byte{(head + strings.Repeat(" ", 60000))[i]}); err != nil {
			return
		}
	}
}

// deaf requests a lot of data and reads nothing.
func deaf(ctx context.Context, conn net.Conn) {
	for wait(ctx, 100*time.Millisecond) == nil {
		if _, err := conn.Write([]byte("GET /api/v1/openapi.json HTTP/1.1\r\nHost: stoa\r\n\r\n")); err != nil {
			return
		}
	}
}

// leaving sends a whole request and does not wait for its answer.
func leaving(ctx context.Context, conn net.Conn) {
	const whole = "POST /api/v1/bots/register HTTP/1.1\r\nHost: stoa\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
	if _, err := conn.Write([]byte(whole)); err == nil {
		_ = wait(ctx, time.Millisecond)
	}
}
