package testbed

import (
	"net/smtp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
