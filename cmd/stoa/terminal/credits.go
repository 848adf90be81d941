package terminal

import (
	"fmt"
	"regexp"
	"strconv"
)

// Credits writes minor units as test credits (§1.2).
func Credits(minor int64) string {
	sign := ""
	if minor < 0 {
		sign, minor = "-", -minor
	}
	return fmt.Sprintf("%s%d.%02d", sign, minor/100, minor%100)
}

var inCredits = regexp.MustCompile(`^(\d{1,17})(?:\.(\d{1,2}))?$`)

// ParseCredits reads test credits such as 12, 12.5 and 12.34 as minor units.
func ParseCredits(text string) (minor int64, ok bool) {
	parts := inCredits.FindStringSubmatch(text)
	if parts == nil {
		return 0, false
	}
	minor, err := strconv.ParseInt(parts[1]+(parts[2] + "00")[:2], 10, 64)
	return minor, err == nil
}
