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

// Differences asks the first two contestants the same and compares the members of their last answers: rivals that answer
// something else do not do the same work.
func Differences(ctx context.Context, w *world.World, path scenarios.Path, one, other Contestant) ([]string, error) {
	if path.HTTP == nil {
		return nil, nil
	}
	var answers [][]byte
	for _, c := range []Contestant{one, other} {
		client, err := load.Dial(ctx, c.Process.Address)
		if err != nil {
			return nil, err
		}
		err = path.HTTP(w.Agents[0], client)(ctx)
		answers = append(answers, client.Last())
		if err = errors.Join(err, client.Close()); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path.Name, c.Name, err)
		}
	}
	return compare(path.Name, answers[0], answers[1])
}

// compare lists the members that only one of two answers holds.
func compare(name string, one, other []byte) ([]string, error) {
	first, err := members(one)
	if err != nil {
		return nil, err
	}
	second, err := members(other)
	if err != nil {
		return nil, err
	}
	var odd []string
	for _, member := range slices.Sorted(maps.Keys(first)) {
		if !second[member] {
			odd = append(odd, name+" +"+member)
		}
	}
	for _, member := range slices.Sorted(maps.Keys(second)) {
		if !first[member] {
			odd = append(odd, name+" -"+member)
		}
	}
	return odd, nil
}

// members lists the paths of all members of a JSON value; the elements of an array count as one.
func members(raw []byte) (map[string]bool, error) {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil, fmt.Errorf("contest: an answer is not JSON: %w", err)
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
