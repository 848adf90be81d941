package testbed

import (
	"context"
	"database/sql"
	"net/smtp"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// While writes are held, reads go on. If its client does not end the hold, the database does. Without a database nothing is held.
func TestHoldWrites(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs every night")
	}
	t.Parallel()
	address := os.Getenv("STOA_TEST_DATABASE_URL")
	require.NotEmpty(t, address, "STOA_TEST_DATABASE_URL is not set: run the tests through `make test`")
	pool, err := sql.Open("postgres", address)
	require.NoError(t, err)
	schema := "held_" + uuid.NewString()[:8]
	run := func(statement string) error {
		_, err := pool.ExecContext(context.Background(), statement)
		return err
	}
	require.NoError(t, run("CREATE SCHEMA "+schema+"; CREATE TABLE "+schema+".t (n int)"))
	t.Cleanup(func() {
		require.NoError(t, run("DROP SCHEMA "+schema+" CASCADE"))
		require.NoError(t, pool.Close())
	})
	bed, table := &Bed{DB: pool}, schema+".t"
	write, read := "INSERT INTO "+table+" VALUES (1)", "SELECT * FROM "+table
	bed.HoldWrites(t.Context(), table, time.Hour)
	require.ErrorContains(t, run("SET LOCAL lock_timeout = 20; "+write), "lock timeout")
	require.NoError(t, run(read))
	require.NoError(t, run(write), "it waits until the database ends what holds it")

	bed.HoldWrites(t.Context(), table, time.Millisecond)
	require.NoError(t, run(write))

	away, err := sql.Open("postgres", address)
	require.NoError(t, err)
	require.NoError(t, away.Close())
	(&Bed{DB: away}).HoldWrites(t.Context(), table, time.Hour)
}

// The mail server takes mails and, while it lies, cuts, refuses or takes them without a confirmation. Its network has faults, too.
func TestMailServer(t *testing.T) {
	t.Parallel()
	m, err := newMailServer()
	require.NoError(t, err)
	t.Cleanup(m.close)
	got := make(chan Mail, 8)
	m.Notify(func(mail Mail) { got <- mail })
	mail := []byte(strings.ReplaceAll("Message-ID: <1>\nContent-Type: multipart/alternative; boundary=b\n\n"+
		"--b\n\nYour code is 123456.\n--b--\n"+strings.Repeat(" ", 200), "\n", "\r\n"))
	send := func() error {
		return smtp.SendMail(m.Network.Addresses[0], nil, "a@a.example", []string{"b@b.example"}, mail)
	}
	require.NoError(t, send())
	taken := <-got
	require.Equal(t, Mail{Letter: taken.Letter, To: "b@b.example", Answered: true}, taken)
	require.Equal(t, "123456", taken.Code)

	m.Lie(true)
	require.Error(t, send())
	require.ErrorContains(t, send(), "451")
	require.Empty(t, got)
	require.Error(t, send())
	require.False(t, (<-got).Answered)
	m.Lie(false)
	require.NoError(t, send())

	m.Network.Cut()
	require.Error(t, send())
	require.NoError(t, m.Network.Mend())
	require.NoError(t, send())
}

// Two faults of one kind in one network overlap: lifting one leaves the other.
func TestFaultsOfANetworkOverlap(t *testing.T) {
	t.Parallel()
	m, err := newMailServer()
	require.NoError(t, err)
	t.Cleanup(m.close)
	toxics := m.Network.proxies[0].Toxics
	slow := map[string]int{"latency": 1}
	first, err := m.Network.Add("latency", slow)
	require.NoError(t, err)
	second, err := m.Network.Add("latency", slow)
	require.NoError(t, err)
	require.Len(t, toxics.GetToxicArray(), 4)
	require.NoError(t, first(t.Context()))
	require.Len(t, toxics.GetToxicArray(), 2)
	require.NoError(t, second(t.Context()))
	require.Empty(t, toxics.GetToxicArray())
}
