package lang

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// contentWords are words of everyday and office questions that English does not have, also without their accents where
// they are often typed so.
var contentWords = [languages]string{
	fr: `congé congés conge conges maladie grossesse maternité paternité retraite salaire salaires paie paye embauche employé
		employés employeur salarié salariés préavis démission licenciement contrat contrats travail télétravail bureau
		remboursement remboursements frais dépenses dépense facture factures impôt impôts taxe devis commande commandes
		livraison abonnement résiliation garantie assurances mutuelle logiciel imprimante serveur erreur connexion
		sauvegarde données fichier fichiers téléchargement règlement politique sécurité confidentialité formation entretien
		réunion calendrier horaires horaire voyage déplacement déplacements véhicule voiture santé sante médecin hôpital
		école étudiant étudiants logement loyer achat achats vente prix tarif tarifs utilisateur utilisateurs oublié
		oubliée perdu perdue supprimer ajouter modifier créer installer météo recette cuisine semaine demain aujourd'hui`,
	de: `urlaub urlaubs elternzeit krank kranken krankheit arbeit arbeits arbeitgeber arbeitnehmer mitarbeiter gehalt gehalts lohn
		lohns kündigung kündigungs kuendigung vertrag vertrags probezeit rente renten steuer steuern steuererklärung
		rechnung rechnungs rechnungen kosten reise reisekosten spesen erstattung abrechnung antrag antrags formular
		lieferung lieferzeit bestellung bestellungen gewährleistung widerruf widerrufs versicherung versicherungs drucker
		fehler anmeldung passwort datei dateien daten datenschutz datensicherung sicherheit einstellung einstellungen
		benutzer verwaltung schulung besprechung sitzung betriebsrat betriebs kantine parkplatz dienst dienstwagen fahrzeug
		gesundheit arzt krankenhaus schule wohnung miete kauf verkauf preis preise zeitplan öffnungszeiten überstunden
		vergessen löschen hinzufügen ändern erstellen wetter rezept woche heute anspruch frist regelung recht gesetz`,
	es: `vacaciones permiso baja enfermedad enfermedades embarazo maternidad paternidad jubilación salario salarios sueldo nómina
		nomina empleado empleados empleador trabajo trabajador trabajadores teletrabajo oficina despido renuncia contrato contratos
		reembolso reembolsos gasto gastos factura facturas impuesto impuestos presupuesto pedido pedidos entrega entregas
		suscripción garantía seguro seguros contraseña contrasena impresora servidor conexión archivo archivos datos copia
		seguridad privacidad formación capacitación evaluación reunión calendario horario horarios viaje viajes vehículo
		coche salud médico escuela estudiante estudiantes vivienda alquiler compra compras venta ventas precio precios
		tarifa usuario usuarios olvidada olvidé perdido borrar añadir cambiar crear instalar tiempo receta semana mañana
		hoy configurar ayuda derecho derechos ley desarrollo medio plazo`,
	pt: `férias ferias licença licenca atestado doença doenças gravidez maternidade paternidade aposentadoria salário salários
		salario funcionário funcionários empregado empregados empregador trabalho trabalhador trabalhadores teletrabalho
		escritório demissão contrato contratos reembolso despesa despesas fatura faturas imposto impostos orçamento pedido
		pedidos entrega assinatura garantia seguro seguros senha senhas impressora servidor conexão arquivo arquivos
		ficheiro dados cópia segurança seguranca privacidade treinamento formação avaliação reunião calendário horário
		viagem viagens veículo carro saúde médico escola estudante estudantes moradia aluguel compra compras venda vendas
		preço preços tarifa usuário usuários utilizador esquecida esqueci perdido apagar adicionar alterar criar instalar
		tempo receita semana amanhã hoje configurar ajuda direito direitos lei desenvolvimento meio prazo`,
	it: `ferie congedo permesso malattia malattie gravidanza maternità paternità pensione stipendio stipendi retribuzione busta
		dipendente dipendenti lavoratore lavoratori lavoro ufficio licenziamento dimissioni contratto contratti rimborso
		rimborsi spesa spese fattura fatture imposta imposte tasse preventivo ordine ordini consegna consegne abbonamento
		recesso garanzia assicurazione assicurazioni stampante errore connessione file dati copia sicurezza riservatezza
		formazione valutazione riunione calendario orario orari viaggio viaggi veicolo macchina salute medico ospedale
		scuola studente studenti alloggio affitto acquisto acquisti vendita vendite prezzo prezzi tariffa utente utenti
		dimenticata dimenticato perso eliminare aggiungere modificare creare installare tempo ricetta settimana domani
		oggi aiuto diritto diritti legge sviluppo aziendale azienda aggiornamento`,
	nl: `vakantie vakantiedagen verlof ziekte ziek zwangerschap zwangerschaps ouderschaps pensioen salaris loon werk werkgever
		werknemer werknemers medewerker medewerkers arbeid arbeids kantoor ontslag opzegging overeenkomst proeftijd
		reiskosten onkosten kosten vergoeding vergoedingen declaratie factuur facturen belasting belastingen offerte
		bestelling bestellingen levering levertijd abonnement garantie verzekering verzekeringen wachtwoord printer
		verbinding bestand bestanden gegevens beveiliging veiligheid opleiding vergadering beoordeling rooster
		openingstijden reizen voertuig auto gezondheid arts ziekenhuis school woning huur aankoop verkoop prijs prijzen
		gebruiker gebruikers vergeten wijzigen verwijderen toevoegen aanvragen instellen aanmaken weer recept week morgen
		vandaag hulp recht wet ontwikkeling beleid voorschriften thuiswerken bedrijf bedrijfs herroepings`,
}

// ofEnglish are words of the lists that English texts have too. They say nothing.
const ofEnglish = `file printer auto school week morgen calendario macchina medico tempo casa recept`

// contents maps a word to the languages whose list has it.
var contents = sync.OnceValue(func() map[string][]language {
	m := map[string][]language{}
	for l := range languages {
		for _, w := range strings.Fields(contentWords[l]) {
			m[w] = append(m[w], l)
		}
	}
	for _, w := range strings.Fields(ofEnglish) {
		delete(m, w)
	}
	return m
})

// longestCompound is how many bytes a word has at most that is looked into: a text of one word of 100 kB took 20 s. Words
// that language makes are shorter.
const longestCompound = 256

// shortestPart is how many letters a word has that is looked for inside a longer one.
const shortestPart = 4

// contentLanguages returns the languages that a word in lower case is a content word of: itself or, in German and Dutch,
// which write compounds as one word, its beginning or its end.
func contentLanguages(word string) []language {
	known := contents()
	if said := known[word]; said != nil {
		return said
	}
	if len(word) > longestCompound {
		return nil
	}
	for at := range word {
		for _, part := range []string{word[:at], word[at:]} {
			if utf8.RuneCountInString(part) < shortestPart || utf8.RuneCountInString(word)-utf8.RuneCountInString(part) < shortestPart {
				continue
			}
			for _, l := range known[part] {
				if l == de || l == nl {
					return []language{l}
				}
			}
		}
	}
	return nil
}
