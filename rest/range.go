package rest

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
)

// maxRanges is how many ranges of one file a request may ask for; with more the whole file is sent.
const maxRanges = 8

// rangeOf returns the Range header of a request for a file of that size as http.ServeContent understands it, or nothing where the
// whole file is to be sent: for another method than GET, another unit than bytes, and a header that is not valid (RFC 9110 §14).
func rangeOf(r *http.Request, size int64) string {
	sent := r.Header.Values("Range")
	if r.Method != http.MethodGet || len(sent) != 1 {
		return ""
	}
	unit, list, _ := strings.Cut(sent[0], "=")
	asked := strings.Split(list, ",")
	if !strings.EqualFold(unit, "bytes") || len(asked) > maxRanges {
		return ""
	}
	var satisfiable []string
	for _, one := range asked {
		first, last, valid := oneRange(strings.Trim(one, " \t"), size)
		if !valid {
			return ""
		}
		if first < size && first <= last {
			satisfiable = append(satisfiable, strconv.FormatInt(first, 10)+"-"+strconv.FormatInt(last, 10))
		}
	}
	// A range that begins behind the end is what ServeContent answers 416.
	return "bytes=" + cmp.Or(strings.Join(satisfiable, ","), strconv.FormatInt(size, 10)+"-")
}

// oneRange reads first-last, first- or -length, within a file of that size. No byte of it is in the file where first is not below
// size, or above last.
func oneRange(text string, size int64) (first, last int64, valid bool) {
	from, to, dash := strings.Cut(text, "-")
	if !dash || !digits(from) || !digits(to) || from+to == "" {
		return 0, 0, false
	}
	if from == "" {
		return size - min(number(to), size), size - 1, true
	}
	if to == "" {
		return number(from), size - 1, true
	}
	if less(to, from) {
		return 0, 0, false
	}
	return number(from), min(number(to), size-1), true
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// number is that of some digits, or the largest one where there are too many of them.
func number(digits string) int64 {
	n, _ := strconv.ParseInt(digits, 10, 64) // what is out of range is the largest
	return n
}

// less compares numbers of any length.
func less(a, b string) bool {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) < 0
}
