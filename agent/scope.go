package agent

import (
	"slices"
	"strings"
)

// Words by which a value beside them is the place to look in, folded. Strong ones make a place
// of any value; weak ones only of kinds of documents: "in the exam" is a place to look in, "in Paris" mostly is not.
var (
	strongBefore = []string{
		"only", "solely", "exclusively", "according", "per", "document", "file", "folder", "paper", "material", "page",
		"uniquement", "seulement", "selon", "apres", "dossier", "fichier", "nur", "ausschliesslich", "laut", "dokument", "datei", "ordner",
		"solo", "solamente", "segun", "documento", "archivo", "carpeta",
	}
	strongAfter = []string{"document", "file", "folder", "paper", "material", "only", "say", "dossier", "fichier", "dit", "disent", "dokument", "datei", "ordner", "documento", "archivo", "carpeta"}
	weakBefore  = []string{"in", "within", "inside", "from", "dans", "in", "im", "aus", "en"}
	// negating words make the opposite of a place: nothing is filtered by them.
	negating = []string{"not", "except", "without", "excluding", "outside", "sauf", "hors", "pas", "sans", "excepte", "nicht", "ausser", "ohne", "excepto", "sin", "salvo"}

	strongBeforeHan = []string{"只看", "仅看", "只在", "仅在", "只从", "只", "仅", "根据", "按照", "依据", "查阅", "搜索"}
	strongAfterHan  = []string{"资料", "文件", "文档", "材料", "文件夹", "中写", "里写", "里说", "中说", "里面"}
	negatingHan     = []string{"除了", "除", "不看", "不在", "以外"}
)

// How many words, or characters, may stand between a value and what makes a place of it. "Only bachelor programmes in
// Estmark" has three.
const (
	strongReach = 4
	weakReach   = 3
	afterReach  = 2
	hanReach    = 8
)

// scopes reports whether a named value is the place to look in.
func (t text) scopes(n naming, kind bool) bool {
	before, after := t.before(n.start, strongReach), t.after(n.end, afterReach)
	hanBefore, hanAfter := t.runesBefore(n.start, hanReach), t.runesAfter(n.end, hanReach)
	switch {
	case t.denies(n):
		return false
	case containsAny(before, strongBefore), containsAny(after, strongAfter), hasAny(hanBefore, strongBeforeHan), hasAny(hanAfter, strongAfterHan):
		return true
	}
	if !kind {
		return false
	}
	if containsAny(before[:min(len(before), weakReach)], weakBefore) {
		return true
	}
	return strings.HasSuffix(hanBefore, "在") && (strings.HasPrefix(hanAfter, "里") || strings.HasPrefix(hanAfter, "中"))
}

// denies reports whether the question keeps away from a named value.
func (t text) denies(n naming) bool {
	return containsAny(t.before(n.start, strongReach), negating) ||
		hasAny(t.runesBefore(n.start, hanReach), negatingHan) || hasAny(t.runesAfter(n.end, hanReach), negatingHan)
}

func containsAny(words, wanted []string) bool {
	return slices.ContainsFunc(wanted, func(w string) bool { return slices.Contains(words, singular(w)) })
}

func hasAny(s string, wanted []string) bool {
	return slices.ContainsFunc(wanted, func(w string) bool { return strings.Contains(s, w) })
}
