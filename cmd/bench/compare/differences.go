package compare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"stoa/cmd/bench/load"
	"stoa/cmd/bench/scenarios"
	"stoa/cmd/bench/world"
)

// Differences performs a scenario with two variants and lists the JSON members that only one of their responses has. Variants
// that answer different members do not do the same work.
func Differences(ctx context.Context, w *world.World, s scenarios.Scenario, one, other Variant) ([]string, error) {
	if s.HTTP == nil {
		return nil, nil
	}
	var responses [][]byte
	for _, v := range []Variant{one, other} {
		client, err := load.Dial(ctx, v.Process.Address)
		if err != nil {
			return nil, err
		}
		err = s.HTTP(w.Agents[0], client)(ctx)
		responses = append(responses, client.Last())
		if err = errors.Join(err, client.Close()); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", s.Name, v.Name, err)
		}
	}
	return compareMembers(s.Name, responses[0], responses[1])
}

// compareMembers lists the members that only the first (+) or only the second response (-) has.
func compareMembers(name string, one, other []byte) ([]string, error) {
	first, err := members(one)
	if err != nil {
		return nil, err
	}
	second, err := members(other)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, member := range slices.Sorted(maps.Keys(first)) {
		if !second[member] {
			found = append(found, name+" +"+member)
		}
	}
	for _, member := range slices.Sorted(maps.Keys(second)) {
		if !first[member] {
			found = append(found, name+" -"+member)
		}
	}
	return found, nil
}

// members returns the paths of all members of a JSON value. The elements of an array share one path.
func members(raw []byte) (map[string]bool, error) {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil, fmt.Errorf("compare: a response is not JSON: %w", err)
	}
	found := make(map[string]bool)
	var walk func(prefix string, value any)
	walk = func(prefix string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for name, member := range v {
				found[prefix+"."+name] = true
				walk(prefix+"."+name, member)
			}
		case []any:
			for _, element := range v {
				walk(prefix+"[]", element)
			}
		}
	}
	walk("", value)
	return found, nil
}
