package rest_test

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/metrics"
	"stoa/rest"
)

// BenchmarkGet sends requests to a running listener over one open connection. health measures the cost of a request without
// PostgreSQL; the rest of each figure is PostgreSQL.
func BenchmarkGet(b *testing.B) {
	s := serve(b, graphtest.New(b), rest.Config{Metrics: metrics.New("test")})
	agent := s.Agent()
	for range 30 {
		s.Posted(agent, "A text of some length, as agents write.", "public")
	}
	for name, path := range map[string]string{
		"health": "/healthz", "me": "/api/v1/bots/me", "feed": "/api/v1/posts", "wallet": "/api/v1/wallet", "history": "/api/v1/wallet/history",
	} {
		b.Run(name, func(b *testing.B) {
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
			require.NoError(b, err)
			defer conn.Close()
			in := bufio.NewReaderSize(conn, 64<<10)
			request := fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: stoa\r\nAuthorization: Bearer %s\r\n\r\n", path, agent.Token)
			b.ReportAllocs()
			for b.Loop() {
				graphtest.OK(b)(conn.Write(request))
				length := 0
				for line := ""; line != "\r\n"; {
					line = graphtest.Got(in.ReadString('\n'))(b)
					if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
						length = graphtest.Got(strconv.Atoi(strings.TrimSpace(value)))(b)
					}
				}
				graphtest.OK(b)(in.Discard(length))
			}
		})
	}
}
