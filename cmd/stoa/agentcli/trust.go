package agentcli

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"stoa/rest/client"
)

// pinned is an agent whose key is known.
type pinned struct {
	client.Pin

	Fingerprint string `json:"fingerprint"`
}

func newPinned(pin client.Pin) (pinned, error) {
	fingerprint, err := client.Fingerprint(pin.Key)
	return pinned{pin, fingerprint}, err
}

type pinsCommand struct{}

// Run implements kong's command. It asks no server.
func (pinsCommand) Run(d *deps, a *client.Agent) error {
	pins, err := a.Trust.Pins()
	if err != nil {
		return err
	}
	all := make([]pinned, 0, len(pins))
	for _, pin := range slices.SortedFunc(maps.Values(pins), func(a, b client.Pin) int {
		return cmp.Or(cmp.Compare(a.Handle, b.Handle), cmp.Compare(a.ID, b.ID))
	}) {
		one, err := newPinned(pin)
		if err != nil {
			return err
		}
		all = append(all, one)
	}
	return table(d, all, list[pinned]{
		none: "No key of another agent is known yet.", titles: "HANDLE FINGERPRINT VIA SINCE ID",
		cells: func(p pinned) []string {
			return []string{p.Handle, p.Fingerprint, p.Via, p.At.Format(time.DateOnly), p.ID}
		},
	})
}

type unpinCommand struct{ peer }

// Run implements kong's command. It asks no server.
func (c unpinCommand) Run(d *deps, a *client.Agent) error {
	pin, err := a.Trust.Unpin(c.Agent)
	if err != nil {
		return err
	}
	forgotten, err := newPinned(pin)
	if err != nil {
		return err
	}
	return d.show(forgotten, field{"forgotten", forgotten.Fingerprint}, field{"agent", pin.Handle}, field{"id", pin.ID})
}
