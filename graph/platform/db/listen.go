package db

import (
	"fmt"

	"github.com/lib/pq"
)

// Listen opens a connection outside the pool, for LISTEN, NOTIFY and locks that live as long as it does. Notices arrive on the
// channel, which must be read all the time and is closed when the connection is lost. Behind a pooler it must be a session's.
func Listen(url string, notices chan<- *pq.Notification) (*pq.ListenerConn, error) {
	dsn, err := withSession(url)
	if err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	return pq.NewListenerConn(dsn, notices)
}
