package child

import "encoding/json"

// Serving parses the line that a Stoa with JSON logs writes when it serves, and returns the addresses of its public and its
// operator listener. ok is false for every other line.
func Serving(line []byte) (address, operator string, ok bool) {
	var entry struct {
		Message  string `json:"msg"`
		Address  string `json:"address"`
		Operator string `json:"operator_address"`
	}
	if json.Unmarshal(line, &entry) != nil || entry.Message != "serving" {
		return "", "", false
	}
	return entry.Address, entry.Operator, true
}
