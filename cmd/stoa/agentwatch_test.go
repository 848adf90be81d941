package main

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// An agent sets, sees and ends its watch by commands. A task that another agent posts meanwhile becomes an event.
func TestAnAgentWatchesTheBoard(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	ada, ben := s.registered("ada_watched"), s.registered("ben_watches")
	require.Equal(t, "You watch for nothing.\n", ben.shown("board", "watch"))
	set := ben.run("board", "watch", "villanelles of watches", "--min", "7.50")
	require.Equal(t, "villanelles of watches", set["q"])
	require.EqualValues(t, 750, set["min_amount_minor"])
	require.Equal(t, set, ben.run("board", "watch"))
	shown := ben.shown("board", "watch")
	require.Contains(t, shown, `"villanelles of watches"`)
	require.Contains(t, shown, "7.50")

	ada.run(newTask("--title", "Villanelles of watches, cheap", "--amount", "7")...)
	task := ada.id(newTask("--title", "Two Villanelles of Watches", "--amount", "8")...)
	var posted []string
	eventually(t, func() bool {
		polled := get(t, s.client(ben.token()), "/events?version=2&wait=20")
		posted = regexp.MustCompile(`"kind":"task\.posted".*?\}`).FindAllString(string(polled.Body), -1)
		return len(posted) > 0
	}, "no event of the task")
	require.Len(t, posted, 1)
	require.Contains(t, posted[0], task)
	require.Regexp(t, `task that you watch for +@ada_watched +get 8\.00 .* stoa agent board show `+task+`\n`, ben.shown("waiting"))
	printed := ben.listens("--json").stdout
	printed.await(t, task)
	require.Contains(t, printed.String(), `"agent":"@ada_watched"`)
	require.Equal(t, map[string]string{"new_task": "stoa agent board show " + task}, ben.waits(), "handed over, and open")
	ben.run("board", "respond", task, "Blue.")
	require.Empty(t, ben.waits())

	ben.run("board", "watch", "--all")
	require.Empty(t, ben.run("board", "watch")["q"])
	require.Equal(t, true, ben.run("board", "watch", "--off")["deleted"])
	require.Nil(t, ben.run("board", "watch"))
}

// To pay a price that another agent set or changed, an agent must write the total: a command without it is refused, names the
// total and changes nothing.
func TestAnothersPriceIsPaidOnlyIfConfirmed(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	former := s.tamperingProxy() // becomes a server of 0.2.0, which sends no totals of responses
	s.url = former.url
	ada, ben := s.registered("ada_is_asked"), s.registered("ben_prices")
	befriend(ada, ben)
	unpaid := func(total string, args ...string) {
		t.Helper()
		require.Contains(t, ada.refused(args...), "confirm it with --total "+total)
		require.Contains(t, ada.refused(append(args, "--total", "0.01")...), "--total must be "+total+" (price_changed, 409)")
		require.Zero(t, ada.run("wallet")["reserved_minor"])
	}

	order := []string{"offer", "--description", "x", "--deadline", "3d"}
	offered := ben.id(append(order, "--customer", "@ada_is_asked", "--title", "Reward for you", "--amount", "30")...)
	unpaid("33.00", "act", offered, "accept")
	item := ada.list("waiting")[0]
	require.Equal(t, "pay 33.00", item["price"])
	require.Equal(t, "stoa agent act "+offered+" accept --total 33.00", item["command"])
	require.Regexp(t, `offer to answer +@ben_prices +pay 33\.00 `, ada.shown("waiting"))
	require.Contains(t, ben.refused("act", offered, "accept"), "counterparty_required")

	task := ada.id(newTask("--amount", "15")...)
	response := ben.id("board", "respond", task, "Blue.")
	unpaid("16.50", "board", "select", task, response)
	ben.run("board", "change", task, response, "--amount", "3000")
	unpaid("3300.00", "board", "select", task, response)
	require.Contains(t, ada.refused("board", "select", task, offered), "board answers")
	former.tamper(func(r *http.Request, answer []byte) []byte {
		if strings.HasSuffix(r.URL.Path, "/responses") {
			answer = regexp.MustCompile(`"total_minor":\d+,?`).ReplaceAll(answer, nil)
		}
		return answer
	})
	apart := ada
	apart.program = true // beside the checks of the tests' own requests
	require.Regexp(t, `@ben_prices +3000\.00 +open`, apart.shown("board", "answers", task))
	require.Contains(t, apart.refused("board", "select", task, response), "confirm it with --total 3300.00")
	former.tamper(nil)

	service := ben.id("service", "add", "A sonnet", "Long.", "--amount", "10")
	order = append(order, "--contractor", "@ben_prices", "--service", service)
	unpaid("11.00", order...)
	ben.run("service", "change", service, "--amount", "20")
	unpaid("22.00", order...)
	require.Len(t, ada.list("orders"), 1)

	ada.then(item["command"].(string))
	require.EqualValues(t, 3300, ada.run("wallet")["reserved_minor"])
	require.Equal(t, "get 30.00", ben.list("waiting")[0]["price"])
}

// A text may be written as an argument or as a flag, and only once.
func TestTextsAreArgumentsOrFlags(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	ada, ben := s.registered("ada_writes_flags"), s.registered("ben_writes_arguments")
	for _, written := range [][]string{{"A task", "x"}, {"--title", "A task", "--description", "x"}, {"A task", "--description", "x"}} {
		task := ada.run(append([]string{"board", "post", "--deadline", "3d", "--amount", "1"}, written...)...)
		require.Equal(t, "A task", task["title"])
		id := task["id"].(string)
		response := ben.id("board", "respond", id, "--text", "Blue.")
		require.Equal(t, "Red.", ben.run("board", "change", id, response, "--text", "Red.")["text"])
		require.Equal(t, "Green.", ben.run("board", "change", id, response, "Green.")["text"])
	}
	require.Equal(t, "Long.", ben.run("service", "add", "--title", "A sonnet", "--description", "Long.")["description"])
	for _, wrong := range []struct {
		said string
		args []string
	}{
		{"write title once", []string{"service", "add", "An ode", "Long.", "--title", "A sonnet"}},
		{"write description, as an argument or as --description", []string{"service", "add", "An ode"}},
		{"write title, as", []string{"board", "post", "--description", "x", "--deadline", "3d", "--amount", "1"}},
		{"write text, as", []string{"board", "respond", uuid.NewString()}},
		{"write text, as", []string{"post"}},
	} {
		fails(t, exitUsage, wrong.said)(ben.try(wrong.args...))
	}
}

// A contractor whose customer has too little learns whose balance it is.
func TestAPoorCustomerIsNamed(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	ada, ben := s.registered("ada_is_poor"), s.registered("ben_waits_for_pay")
	befriend(ada, ben)
	offered := func() string { return ada.id(offerTo(ben, "--amount", "3000", "--operation-id", uuid.NewString())...) }
	ben.run("act", offered(), "accept")
	require.Contains(t, ben.refused("act", offered(), "accept"),
		"The customer's available balance does not cover the total. (insufficient_funds, 409)")
	require.Contains(t, ben.refused(newTask("--amount", "10000")...), "The task would cost 11000.00, fee included; you have 5000.00 available.")
}
