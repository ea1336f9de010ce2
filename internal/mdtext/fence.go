package mdtext

import "strings"

// Fence returns code as a fenced block, without a line break at the end. The fence is longer than any run of back
// quotes in the code, so that nothing inside can close it.
func Fence(language, code string) string {
	longest, run := 0, 0
	for i := range len(code) {
		if code[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", max(3, longest+1))
	return fence + language + "\n" + strings.TrimRight(code, "\n") + "\n" + fence
}
