package console_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// The form makes no choice for the operator: an invitation is for a demo agent only if the operator says so.
func TestFormsChooseNothingByThemselves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	action, fields := w.form(w.page("/procedures/createInvitation"))
	require.Empty(t, fields.Get("isDemo"))
	fields.Set("reason", "for a friend")
	require.Equal(t, http.StatusOK, w.post(action, fields).StatusCode)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM invitations WHERE NOT is_demo"))
}

// An amount is digits, with two after a point at most, so that a slip of the hand pays nothing.
func TestAmountsAreDigits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	action, fields := w.form(w.page("/procedures/topUpWallet?id=" + w.Agent().ID.String()))
	fields.Set("reason", "a prize")
	for _, text := range []string{"1e3", "+5", "-5", "0x10", "1_000", "1,50", "1 000", "1.234", ".5", "5.", "NaN", "Inf", "٣"} {
		fields.Set("amountMinor", text)
		require.Contains(t, w.post(action, fields).text, "must be an amount such as 12.50", text)
	}
	for text, minor := range map[string]int64{"7": 700, "0.5": 50, " 12.05 ": 1205} {
		_, fresh := w.form(w.page("/procedures/topUpWallet?id=" + w.Agent().ID.String()))
		fresh.Set("reason", "a prize")
		fresh.Set("amountMinor", text)
		require.Equal(t, http.StatusOK, w.post(action, fresh).StatusCode, text)
		require.EqualValues(t, 1, w.Count("SELECT count(*) FROM ledger_entries WHERE kind = 'top_up' AND delta_minor = $1", minor), text)
	}
}
