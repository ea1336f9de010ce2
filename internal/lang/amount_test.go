package lang

import "testing"

func TestAsksAmount(t *testing.T) {
	for question, want := range map[string]bool{
		"How many days of annual leave do I get?": true,
		"how   much is the deposit?":              true,
		"Wie viele Tage Urlaub habe ich?":         true,
		"Wieviel kostet es?":                      true,
		"Combien de jours ?":                      true,
		"¿Cuántos días?":                          true,
		"cuanto cuesta":                           true,
		"年假有多少天？":                                 true,
		"Quanti giorni di ferie?":                 true,
		"Quantos dias?":                           true,
		"Hoeveel dagen verlof?":                   true,
		"几天年假？":                                   true,
		"How do I ask for leave?":                 false,
		"show much of it":                         false,
		"Who approves leave?":                     false,
		"几乎没有":                                    false,
		"":                                        false,
	} {
		if got := AsksAmount(question); got != want {
			t.Errorf("AsksAmount(%q) = %v", question, got)
		}
	}
}

func TestHasAmount(t *testing.T) {
	for text, want := range map[string]bool{
		"Every employee receives 27 days.":      true,
		"A share of ½.":                         true,
		"Two weeks, rounded up.":                true,
		"Sie haben zwölf Tage.":                 true,
		"Ils ont deux jours.":                   true,
		"十五天":                                   true,
		"It is paid out with the final salary.": false,
		"One may ask the manager.":              false,
		"":                                      false,
	} {
		if got := HasAmount(text); got != want {
			t.Errorf("HasAmount(%q) = %v", text, got)
		}
	}
}
