package selftest

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"
)

// kept is a result in a file.
type kept struct {
	Bug       string        `json:"bug"`
	By        string        `json:"by,omitempty"`
	After     time.Duration `json:"after,omitempty"`
	Violation string        `json:"violation,omitempty"`
	NotTried  string        `json:"not_tried,omitempty"`
	Load      float64       `json:"load,omitempty"`
	Version   string        `json:"version,omitempty"`
}

// Load reads results of earlier runs from a file, which may be missing. A name that the catalogue has no more is left out; the server
// without a bug has none.
func (r *Report) Load(file string) error {
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var all []kept
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	for _, k := range all {
		result := Result{By: k.By, After: k.After, Violation: k.Violation, NotTried: k.NotTried, Load: k.Load, Version: k.Version}
		at := slices.IndexFunc(catalogue, func(b Row) bool { return b.Name == k.Bug })
		switch {
		case k.Bug == "":
			r.Without = &result
		case at >= 0:
			result.Bug = catalogue[at]
			r.Add(result)
		}
	}
	return err
}

// Keep writes all results into a file, if it has a name.
func (r *Report) Keep(file string) error {
	if file == "" {
		return nil
	}
	var all []kept
	if r.Without != nil {
		all = append(all, r.Without.kept())
	}
	for _, result := range r.Results {
		all = append(all, result.kept())
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

func (r Result) kept() kept {
	return kept{r.Bug.Name, r.By, r.After, r.Violation, r.NotTried, r.Load, r.Version}
}

// Add adds a result in the place of an earlier one of that bug, in the order of the catalogue.
func (r *Report) Add(result Result) {
	r.Results = slices.DeleteFunc(r.Results, func(before Result) bool { return before.Bug.Name == result.Bug.Name })
	r.Results = append(r.Results, result)
	slices.SortStableFunc(r.Results, func(a, b Result) int { return position(a.Bug) - position(b.Bug) })
}

func position(bug Row) int {
	return slices.IndexFunc(catalogue, func(b Row) bool { return b.Name == bug.Name })
}

// Untried are those of some bugs that were neither found nor missed.
func (r *Report) Untried(bugs []Row) []Row {
	return slices.DeleteFunc(slices.Clone(bugs), func(b Row) bool {
		return slices.ContainsFunc(r.Results, func(result Result) bool { return result.Bug.Name == b.Name && result.NotTried == "" })
	})
}
