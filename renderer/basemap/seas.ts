/**
 * Creates the labels of oceans, seas, gulfs and large lakes. Natural Earth's packages have no names of waters.
 *
 * Names are those that atlases of each language print. A language without an entry shows the English name. Pure.
 */

import type { Feature, Point } from 'geojson';

type Place = readonly [longitude: number, latitude: number, minZoom: number];

interface Sea {
  readonly name: string;
  readonly class: 'ocean' | 'sea' | 'lake';
  /** Label points with their first zooms. An ocean has several, because it is wider than most maps. */
  readonly places: readonly Place[];
  /** Languages, each with its name. */
  readonly names: ReadonlyMap<string, string>;
}

/** `names` has a language and its name in each part between bars. */
const sea = (name: string, places: readonly Place[], names: string, of: Sea['class'] = 'sea'): Sea => ({
  name,
  class: of,
  places,
  names: new Map(
    names.split('|').map((entry) => {
      const end = entry.indexOf(' ');
      return [entry.slice(0, end), entry.slice(end + 1)];
    }),
  ),
});

const ocean = (name: string, places: readonly Place[], names: string): Sea => sea(name, places, names, 'ocean');
const lake = (name: string, place: Place, names: string): Sea => sea(name, [place], names, 'lake');

const oceans: readonly Sea[] = [
  ocean(
    'Pacific Ocean',
    [
      ...([
        [-150, 5, 1],
        [-150, 33, 4],
        [-115, -20, 4],
        [168, 28, 4],
      ] as const),
      ...([
        [-168, -32, 4],
        [-105, -42, 4],
        [-172, -8, 4],
        [-100, 8, 4],
      ] as const),
    ],
    'de Pazifischer Ozean|fr Océan Pacifique|es Océano Pacífico|it Oceano Pacifico|pt Oceano Pacífico|nl Grote Oceaan|' +
      'pl Ocean Spokojny|ru Тихий океан|uk Тихий океан|tr Büyük Okyanus|ja 太平洋|zh 太平洋|ko 태평양|' +
      'ar المحيط الهادئ|he האוקיינוס השקט|hi प्रशांत महासागर|th มหาสมุทรแปซิฟิก',
  ),
  ocean(
    'Atlantic Ocean',
    [
      ...([
        [-38, 26, 1],
        [-40, 44, 4],
        [-28, 3, 4],
        [-15, -25, 4],
      ] as const),
      ...([
        [-62, 30, 4],
        [-18, 48, 4],
        [-35, -42, 4],
      ] as const),
    ],
    'de Atlantischer Ozean|fr Océan Atlantique|es Océano Atlántico|it Oceano Atlantico|pt Oceano Atlântico|' +
      'nl Atlantische Oceaan|pl Ocean Atlantycki|ru Атлантический океан|uk Атлантичний океан|tr Atlas Okyanusu|' +
      'ja 大西洋|zh 大西洋|ko 대서양|ar المحيط الأطلسي|he האוקיינוס האטלנטי|hi अटलांटिक महासागर|th มหาสมุทรแอตแลนติก',
  ),
  ocean(
    'Indian Ocean',
    [
      [78, -22, 1],
      [72, -4, 4],
      [98, -12, 4],
      [62, -38, 4],
      [102, -38, 4],
    ],
    'de Indischer Ozean|fr Océan Indien|es Océano Índico|it Oceano Indiano|pt Oceano Índico|nl Indische Oceaan|' +
      'pl Ocean Indyjski|ru Индийский океан|uk Індійський океан|tr Hint Okyanusu|ja インド洋|zh 印度洋|ko 인도양|' +
      'ar المحيط الهندي|he האוקיינוס ההודי|hi हिंद महासागर|th มหาสมุทรอินเดีย',
  ),
  ocean(
    'Arctic Ocean',
    [
      [-150, 79, 2],
      [10, 83, 3],
      [140, 81, 3],
    ],
    'de Arktischer Ozean|fr Océan Arctique|es Océano Ártico|it Mar Glaciale Artico|pt Oceano Ártico|' +
      'nl Noordelijke IJszee|pl Ocean Arktyczny|ru Северный Ледовитый океан|uk Північний Льодовитий океан|' +
      'tr Arktik Okyanusu|ja 北極海|zh 北冰洋|ko 북극해|ar المحيط المتجمد الشمالي|he אוקיינוס הקרח הצפוני|' +
      'hi आर्कटिक महासागर|th มหาสมุทรอาร์กติก',
  ),
  ocean(
    'Southern Ocean',
    [
      [25, -61, 2],
      [-120, -64, 3],
      [115, -61, 3],
    ],
    'de Südlicher Ozean|fr Océan Austral|es Océano Antártico|it Oceano Antartico|pt Oceano Antártico|' +
      'nl Zuidelijke Oceaan|pl Ocean Południowy|ru Южный океан|uk Південний океан|tr Güney Okyanusu|ja 南極海|zh 南冰洋|' +
      'ko 남극해|ar المحيط المتجمد الجنوبي|he האוקיינוס הדרומי|hi दक्षिणी महासागर|th มหาสมุทรใต้',
  ),
];

const seas: readonly Sea[] = [
  sea(
    'Mediterranean Sea',
    [
      [18, 34.9, 3],
      [4.6, 39.3, 4],
      [31, 33.4, 4],
    ],
    'de Mittelmeer|fr Mer Méditerranée|es Mar Mediterráneo|it Mar Mediterraneo|pt Mar Mediterrâneo|nl Middellandse Zee|' +
      'pl Morze Śródziemne|ru Средиземное море|uk Середземне море|tr Akdeniz|ja 地中海|zh 地中海|ko 지중해|' +
      'ar البحر الأبيض المتوسط|he הים התיכון|hi भूमध्य सागर|th ทะเลเมดิเตอร์เรเนียน',
  ),
  sea(
    'Black Sea',
    [[34.5, 43.2, 3]],
    'de Schwarzes Meer|fr Mer Noire|es Mar Negro|it Mar Nero|pt Mar Negro|nl Zwarte Zee|pl Morze Czarne|' +
      'ru Чёрное море|uk Чорне море|tr Karadeniz|ja 黒海|zh 黑海|ko 흑해|ar البحر الأسود|he הים השחור|hi काला सागर',
  ),
  sea(
    'Caspian Sea',
    [[50.8, 41.6, 3]],
    'de Kaspisches Meer|fr Mer Caspienne|es Mar Caspio|it Mar Caspio|pt Mar Cáspio|nl Kaspische Zee|pl Morze Kaspijskie|' +
      'ru Каспийское море|uk Каспійське море|tr Hazar Denizi|ja カスピ海|zh 里海|zh-Hant 裏海|ko 카스피해|' +
      'ar بحر قزوين|he הים הכספי|hi कैस्पियन सागर',
  ),
  sea(
    'Red Sea',
    [[38.2, 20.2, 3]],
    'de Rotes Meer|fr Mer Rouge|es Mar Rojo|it Mar Rosso|pt Mar Vermelho|nl Rode Zee|pl Morze Czerwone|' +
      'ru Красное море|uk Червоне море|tr Kızıldeniz|ja 紅海|zh 红海|zh-Hant 紅海|ko 홍해|ar البحر الأحمر|he ים סוף|' +
      'hi लाल सागर',
  ),
  sea(
    'Arabian Sea',
    [[63.5, 14.5, 3]],
    'de Arabisches Meer|fr Mer d’Arabie|es Mar Arábigo|it Mar Arabico|pt Mar Arábico|nl Arabische Zee|' +
      'pl Morze Arabskie|ru Аравийское море|uk Аравійське море|ja アラビア海|zh 阿拉伯海|ko 아라비아해|ar بحر العرب|' +
      'he הים הערבי|hi अरब सागर',
  ),
  sea(
    'Bay of Bengal',
    [[88, 14, 3]],
    'de Golf von Bengalen|fr Golfe du Bengale|es Golfo de Bengala|it Golfo del Bengala|pt Golfo de Bengala|' +
      'nl Golf van Bengalen|pl Zatoka Bengalska|ru Бенгальский залив|uk Бенгальська затока|ja ベンガル湾|zh 孟加拉湾|' +
      'zh-Hant 孟加拉灣|ko 벵골만|ar خليج البنغال|hi बंगाल की खाड़ी|th อ่าวเบงกอล',
  ),
  sea(
    'Persian Gulf',
    [[51.4, 27.3, 5]],
    'de Persischer Golf|fr Golfe Persique|es Golfo Pérsico|it Golfo Persico|pt Golfo Pérsico|nl Perzische Golf|' +
      'pl Zatoka Perska|ru Персидский залив|uk Перська затока|tr Basra Körfezi|ja ペルシア湾|zh 波斯湾|' +
      'zh-Hant 波斯灣|ko 페르시아만|ar الخليج العربي|fa خلیج فارس|he המפרץ הפרסי',
  ),
  sea(
    'Gulf of Oman',
    [[58.6, 24.8, 5]],
    'de Golf von Oman|fr Golfe d’Oman|es Golfo de Omán|it Golfo di Oman|pt Golfo de Omã|ru Оманский залив|' +
      'ja オマーン湾|zh 阿曼湾|zh-Hant 阿曼灣|ar خليج عمان',
  ),
  sea(
    'Gulf of Aden',
    [[47.8, 12.2, 5]],
    'de Golf von Aden|fr Golfe d’Aden|es Golfo de Adén|it Golfo di Aden|pt Golfo de Áden|ru Аденский залив|' +
      'ja アデン湾|zh 亚丁湾|zh-Hant 亞丁灣|ar خليج عدن',
  ),
  sea(
    'Andaman Sea',
    [[96, 11, 5]],
    'de Andamanensee|fr Mer d’Andaman|es Mar de Andamán|it Mare delle Andamane|pt Mar de Andamão|ru Андаманское море|' +
      'ja アンダマン海|zh 安达曼海|zh-Hant 安達曼海|th ทะเลอันดามัน',
  ),
  sea(
    'Gulf of Thailand',
    [[101.3, 10.3, 5]],
    'de Golf von Thailand|fr Golfe de Thaïlande|es Golfo de Tailandia|it Golfo della Thailandia|ru Сиамский залив|' +
      'ja タイランド湾|zh 泰国湾|zh-Hant 泰國灣|ko 타이만|th อ่าวไทย',
  ),
  sea(
    'South China Sea',
    [[113.8, 14.5, 3]],
    'de Südchinesisches Meer|fr Mer de Chine méridionale|es Mar de China Meridional|it Mar Cinese Meridionale|' +
      'pt Mar da China Meridional|nl Zuid-Chinese Zee|pl Morze Południowochińskie|ru Южно-Китайское море|' +
      'ja 南シナ海|zh 南海|ko 남중국해|ar بحر الصين الجنوبي|th ทะเลจีนใต้|vi Biển Đông',
  ),
  sea(
    'East China Sea',
    [[125.3, 29, 3]],
    'de Ostchinesisches Meer|fr Mer de Chine orientale|es Mar de China Oriental|it Mar Cinese Orientale|' +
      'pt Mar da China Oriental|nl Oost-Chinese Zee|pl Morze Wschodniochińskie|ru Восточно-Китайское море|' +
      'ja 東シナ海|zh 东海|zh-Hant 東海|ko 동중국해',
  ),
  sea(
    'Yellow Sea',
    [[123, 36, 4]],
    'de Gelbes Meer|fr Mer Jaune|es Mar Amarillo|it Mar Giallo|pt Mar Amarelo|nl Gele Zee|pl Morze Żółte|' +
      'ru Жёлтое море|ja 黄海|zh 黄海|zh-Hant 黃海|ko 황해',
  ),
  sea(
    'Sea of Japan',
    [[135, 40.5, 3]],
    'de Japanisches Meer|fr Mer du Japon|es Mar del Japón|it Mar del Giappone|pt Mar do Japão|nl Japanse Zee|' +
      'pl Morze Japońskie|ru Японское море|ja 日本海|zh 日本海|ko 동해',
  ),
  sea(
    'Sea of Okhotsk',
    [[149.5, 53.5, 3]],
    'de Ochotskisches Meer|fr Mer d’Okhotsk|es Mar de Ojotsk|it Mare di Ochotsk|pt Mar de Okhotsk|nl Zee van Ochotsk|' +
      'pl Morze Ochockie|ru Охотское море|ja オホーツク海|zh 鄂霍次克海|ko 오호츠크해',
  ),
  sea(
    'Bering Sea',
    [[-178, 57.5, 3]],
    'de Beringmeer|fr Mer de Béring|es Mar de Bering|it Mare di Bering|pt Mar de Bering|nl Beringzee|' +
      'pl Morze Beringa|ru Берингово море|ja ベーリング海|zh 白令海|ko 베링해',
  ),
  sea(
    'Philippine Sea',
    [[133, 18, 3]],
    'de Philippinensee|fr Mer des Philippines|es Mar de Filipinas|it Mar delle Filippine|pt Mar das Filipinas|' +
      'ru Филиппинское море|ja フィリピン海|zh 菲律宾海|zh-Hant 菲律賓海|ko 필리핀해',
  ),
  sea(
    'Sulu Sea',
    [[119.9, 8.4, 5]],
    'de Sulusee|fr Mer de Sulu|es Mar de Joló|ru Море Сулу|ja スールー海|zh 苏禄海|zh-Hant 蘇祿海',
  ),
  sea(
    'Celebes Sea',
    [[122, 3.6, 5]],
    'de Celebessee|fr Mer de Célèbes|es Mar de Célebes|ru Море Сулавеси|ja セレベス海|zh 苏拉威西海|id Laut Sulawesi',
  ),
  sea(
    'Java Sea',
    [[111, -5, 5]],
    'de Javasee|fr Mer de Java|es Mar de Java|ru Яванское море|ja ジャワ海|zh 爪哇海|id Laut Jawa',
  ),
  sea(
    'Banda Sea',
    [[126.5, -5.6, 5]],
    'de Bandasee|fr Mer de Banda|es Mar de Banda|ru Море Банда|ja バンダ海|zh 班达海|zh-Hant 班達海|id Laut Banda',
  ),
  sea(
    'Arafura Sea',
    [[135.5, -9.4, 5]],
    'de Arafurasee|fr Mer d’Arafura|es Mar de Arafura|ru Арафурское море|ja アラフラ海|zh 阿拉弗拉海|id Laut Arafura',
  ),
  sea(
    'Gulf of Carpentaria',
    [[139.2, -13.8, 5]],
    'de Carpentariagolf|fr Golfe de Carpentarie|es Golfo de Carpentaria|ru Залив Карпентария|ja カーペンタリア湾',
  ),
  sea(
    'Great Australian Bight',
    [[130.5, -34, 3]],
    'de Große Australische Bucht|fr Grande Baie australienne|es Gran Bahía Australiana|' +
      'ru Большой Австралийский залив|ja グレートオーストラリア湾|zh 大澳大利亚湾',
  ),
  sea(
    'Coral Sea',
    [[154.5, -17, 3]],
    'de Korallenmeer|fr Mer de Corail|es Mar del Coral|it Mar dei Coralli|pt Mar de Coral|nl Koraalzee|' +
      'pl Morze Koralowe|ru Коралловое море|ja 珊瑚海|zh 珊瑚海|ko 산호해',
  ),
  sea(
    'Tasman Sea',
    [[160, -38, 3]],
    'de Tasmansee|fr Mer de Tasman|es Mar de Tasmania|it Mar di Tasman|pt Mar da Tasmânia|nl Tasmanzee|' +
      'pl Morze Tasmana|ru Тасманово море|ja タスマン海|zh 塔斯曼海|ko 태즈먼해',
  ),
  sea(
    'Gulf of Alaska',
    [[-145.5, 57, 4]],
    'de Golf von Alaska|fr Golfe d’Alaska|es Golfo de Alaska|it Golfo dell’Alaska|ru Залив Аляска|ja アラスカ湾|' +
      'zh 阿拉斯加湾|zh-Hant 阿拉斯加灣',
  ),
  sea(
    'Gulf of California',
    [[-111.2, 26.8, 5]],
    'de Golf von Kalifornien|fr Golfe de Californie|es Golfo de California|it Golfo di California|' +
      'ru Калифорнийский залив|ja カリフォルニア湾',
  ),
  sea(
    'Gulf of Mexico',
    [[-91, 25.2, 3]],
    'de Golf von Mexiko|fr Golfe du Mexique|es Golfo de México|it Golfo del Messico|pt Golfo do México|' +
      'nl Golf van Mexico|pl Zatoka Meksykańska|ru Мексиканский залив|ja メキシコ湾|zh 墨西哥湾|zh-Hant 墨西哥灣|ko 멕시코만|' +
      'ar خليج المكسيك',
  ),
  sea(
    'Caribbean Sea',
    [[-75.5, 15, 3]],
    'de Karibisches Meer|fr Mer des Caraïbes|es Mar Caribe|it Mar dei Caraibi|pt Mar do Caribe|nl Caribische Zee|' +
      'pl Morze Karaibskie|ru Карибское море|ja カリブ海|zh 加勒比海|ko 카리브해|ar البحر الكاريبي',
  ),
  sea(
    'Hudson Bay',
    [[-85.5, 59.5, 3]],
    'fr Baie d’Hudson|es Bahía de Hudson|it Baia di Hudson|pt Baía de Hudson|nl Hudsonbaai|pl Zatoka Hudsona|' +
      'ru Гудзонов залив|ja ハドソン湾|zh 哈得孙湾|ko 허드슨만',
  ),
  sea(
    'Labrador Sea',
    [[-53, 57.8, 4]],
    'de Labradorsee|fr Mer du Labrador|es Mar del Labrador|ru Море Лабрадор|ja ラブラドル海|zh 拉布拉多海',
  ),
  sea('Baffin Bay', [[-67, 73.8, 4]], 'fr Baie de Baffin|es Bahía de Baffin|ru Море Баффина|ja バフィン湾|zh 巴芬湾'),
  sea(
    'Greenland Sea',
    [[-6, 76.5, 4]],
    'de Grönlandsee|fr Mer du Groenland|es Mar de Groenlandia|ru Гренландское море|ja グリーンランド海|zh 格陵兰海',
  ),
  sea(
    'Norwegian Sea',
    [[3, 67.8, 3]],
    'de Europäisches Nordmeer|fr Mer de Norvège|es Mar de Noruega|it Mare di Norvegia|pt Mar da Noruega|' +
      'nl Noorse Zee|pl Morze Norweskie|no Norskehavet|ru Норвежское море|ja ノルウェー海|zh 挪威海|ko 노르웨이해',
  ),
  sea(
    'North Sea',
    [[3.4, 56.1, 3]],
    'de Nordsee|fr Mer du Nord|es Mar del Norte|it Mare del Nord|pt Mar do Norte|nl Noordzee|pl Morze Północne|' +
      'da Nordsøen|no Nordsjøen|sv Nordsjön|ru Северное море|uk Північне море|tr Kuzey Denizi|ja 北海|zh 北海|ko 북해|' +
      'ar بحر الشمال|he הים הצפוני',
  ),
  sea(
    'Baltic Sea',
    [[19.7, 56.3, 3]],
    'de Ostsee|fr Mer Baltique|es Mar Báltico|it Mar Baltico|pt Mar Báltico|nl Oostzee|pl Morze Bałtyckie|' +
      'da Østersøen|no Østersjøen|sv Östersjön|fi Itämeri|ru Балтийское море|uk Балтійське море|tr Baltık Denizi|' +
      'ja バルト海|zh 波罗的海|zh-Hant 波羅的海|ko 발트해|ar بحر البلطيق|he הים הבלטי',
  ),
  sea(
    'Gulf of Bothnia',
    [[19.8, 61.8, 5]],
    'de Bottnischer Meerbusen|fr Golfe de Botnie|es Golfo de Botnia|it Golfo di Botnia|sv Bottniska viken|' +
      'fi Pohjanlahti|ru Ботнический залив|ja ボスニア湾',
  ),
  sea(
    'Celtic Sea',
    [[-8, 50.4, 5]],
    'de Keltische See|fr Mer Celtique|es Mar Céltico|it Mar Celtico|ru Кельтское море|ja ケルト海',
  ),
  sea(
    'Irish Sea',
    [[-5, 53.9, 6]],
    'de Irische See|fr Mer d’Irlande|es Mar de Irlanda|it Mare d’Irlanda|ru Ирландское море|ja アイリッシュ海',
  ),
  sea(
    'English Channel',
    [[-2.2, 50.1, 6]],
    'de Ärmelkanal|fr Manche|es Canal de la Mancha|it La Manica|pt Canal da Mancha|nl Het Kanaal|ru Ла-Манш|' +
      'ja イギリス海峡|zh 英吉利海峡',
  ),
  sea(
    'Bay of Biscay',
    [[-5, 45.4, 3]],
    'de Golf von Biskaya|fr Golfe de Gascogne|es Mar Cantábrico|it Golfo di Biscaglia|pt Golfo da Biscaia|' +
      'nl Golf van Biskaje|pl Zatoka Biskajska|ru Бискайский залив|ja ビスケー湾|zh 比斯开湾',
  ),
  sea(
    'Tyrrhenian Sea',
    [[12, 39.9, 4]],
    'de Tyrrhenisches Meer|fr Mer Tyrrhénienne|es Mar Tirreno|it Mar Tirreno|pt Mar Tirreno|ru Тирренское море|' +
      'ja ティレニア海|zh 第勒尼安海',
  ),
  sea(
    'Adriatic Sea',
    [[15.6, 43, 4]],
    'de Adriatisches Meer|fr Mer Adriatique|es Mar Adriático|it Mare Adriatico|pt Mar Adriático|hr Jadransko more|' +
      'ru Адриатическое море|ja アドリア海|zh 亚得里亚海|zh-Hant 亞得里亞海',
  ),
  sea(
    'Ionian Sea',
    [[19, 37.6, 4]],
    'de Ionisches Meer|fr Mer Ionienne|es Mar Jónico|it Mar Ionio|pt Mar Jónico|el Ιόνιο Πέλαγος|' +
      'ru Ионическое море|ja イオニア海|zh 爱奥尼亚海',
  ),
  sea(
    'Aegean Sea',
    [[25, 38.6, 4]],
    'de Ägäisches Meer|fr Mer Égée|es Mar Egeo|it Mar Egeo|pt Mar Egeu|el Αιγαίο Πέλαγος|tr Ege Denizi|' +
      'ru Эгейское море|ja エーゲ海|zh 爱琴海|zh-Hant 愛琴海',
  ),
  sea(
    'Barents Sea',
    [[40, 74, 3]],
    'de Barentssee|fr Mer de Barents|es Mar de Barents|it Mare di Barents|pt Mar de Barents|nl Barentszzee|' +
      'pl Morze Barentsa|ru Баренцево море|ja バレンツ海|zh 巴伦支海|ko 바렌츠해',
  ),
  sea(
    'Kara Sea',
    [[70, 75.5, 4]],
    'de Karasee|fr Mer de Kara|es Mar de Kara|it Mare di Kara|ru Карское море|ja カラ海|zh 喀拉海',
  ),
  sea(
    'Laptev Sea',
    [[125, 75.8, 4]],
    'de Laptewsee|fr Mer des Laptev|es Mar de Láptev|ru Море Лаптевых|ja ラプテフ海|zh 拉普捷夫海',
  ),
  sea(
    'East Siberian Sea',
    [[162, 72.8, 4]],
    'de Ostsibirische See|fr Mer de Sibérie orientale|es Mar de Siberia Oriental|ru Восточно-Сибирское море|' +
      'ja 東シベリア海|zh 东西伯利亚海',
  ),
  sea(
    'Chukchi Sea',
    [[-171, 69.7, 4]],
    'de Tschuktschensee|fr Mer des Tchouktches|es Mar de Chukotka|ru Чукотское море|ja チュクチ海|zh 楚科奇海',
  ),
  sea(
    'Beaufort Sea',
    [[-139, 72.3, 4]],
    'de Beaufortsee|fr Mer de Beaufort|es Mar de Beaufort|ru Море Бофорта|ja ボーフォート海|zh 波弗特海',
  ),
  sea(
    'Gulf of Guinea',
    [[2.5, 2.2, 4]],
    'de Golf von Guinea|fr Golfe de Guinée|es Golfo de Guinea|it Golfo di Guinea|pt Golfo da Guiné|' +
      'ru Гвинейский залив|ja ギニア湾|zh 几内亚湾',
  ),
  sea(
    'Mozambique Channel',
    [[41.2, -18.3, 4]],
    'de Straße von Mosambik|fr Canal du Mozambique|es Canal de Mozambique|pt Canal de Moçambique|' +
      'ru Мозамбикский пролив|ja モザンビーク海峡|zh 莫桑比克海峡',
  ),
  sea(
    'Weddell Sea',
    [[-45, -72, 3]],
    'de Weddellmeer|fr Mer de Weddell|es Mar de Weddell|ru Море Уэдделла|ja ウェッデル海|zh 威德尔海',
  ),
  sea('Ross Sea', [[-170, -75.3, 3]], 'de Rossmeer|fr Mer de Ross|es Mar de Ross|ru Море Росса|ja ロス海|zh 罗斯海'),
];

const lakes: readonly Sea[] = [
  lake(
    'Lake Superior',
    [-87.6, 47.7, 4],
    'de Oberer See|fr Lac Supérieur|es Lago Superior|it Lago Superiore|ru Верхнее озеро|ja スペリオル湖|zh 苏必利尔湖',
  ),
  lake(
    'Lake Michigan',
    [-87, 43.7, 4],
    'de Michigansee|fr Lac Michigan|es Lago Míchigan|it Lago Michigan|ru Мичиган|ja ミシガン湖|zh 密歇根湖',
  ),
  lake(
    'Lake Huron',
    [-82.3, 44.8, 4],
    'de Huronsee|fr Lac Huron|es Lago Hurón|it Lago Huron|ru Гурон|ja ヒューロン湖|zh 休伦湖',
  ),
  lake('Lake Erie', [-81.2, 42.2, 6], 'de Eriesee|fr Lac Érié|es Lago Erie|it Lago Erie|ru Эри|ja エリー湖|zh 伊利湖'),
  lake(
    'Lake Ontario',
    [-77.8, 43.65, 6],
    'de Ontariosee|fr Lac Ontario|es Lago Ontario|it Lago Ontario|ru Онтарио|ja オンタリオ湖|zh 安大略湖',
  ),
  lake(
    'Great Bear Lake',
    [-120.8, 66, 5],
    'de Großer Bärensee|fr Grand lac de l’Ours|es Gran Lago del Oso|ru Большое Медвежье озеро|ja グレートベア湖',
  ),
  lake(
    'Great Slave Lake',
    [-114.3, 61.6, 5],
    'de Großer Sklavensee|fr Grand lac des Esclaves|es Gran Lago del Esclavo|ja グレートスレーブ湖',
  ),
  lake(
    'Lake Winnipeg',
    [-98.1, 53.2, 6],
    'de Winnipegsee|fr Lac Winnipeg|es Lago Winnipeg|ru Виннипег|ja ウィニペグ湖',
  ),
  lake(
    'Lake Titicaca',
    [-69.4, -15.8, 6],
    'de Titicacasee|fr Lac Titicaca|es Lago Titicaca|it Lago Titicaca|ru Титикака|ja チチカカ湖|zh 的的喀喀湖',
  ),
  lake(
    'Lake Victoria',
    [33, -1.1, 4],
    'de Victoriasee|fr Lac Victoria|es Lago Victoria|it Lago Vittoria|pt Lago Vitória|ru Виктория|ja ヴィクトリア湖|' +
      'zh 维多利亚湖|ar بحيرة فيكتوريا',
  ),
  lake(
    'Lake Malawi',
    [34.5, -11.9, 6],
    'de Malawisee|fr Lac Malawi|es Lago Malaui|it Lago Malawi|ru Ньяса|ja マラウイ湖',
  ),
  lake(
    'Lake Baikal',
    [108, 53.6, 5],
    'de Baikalsee|fr Lac Baïkal|es Lago Baikal|it Lago Bajkal|ru Байкал|ja バイカル湖|zh 贝加尔湖|zh-Hant 貝加爾湖|ko 바이칼호',
  ),
  lake(
    'Lake Ladoga',
    [31.5, 60.8, 6],
    'de Ladogasee|fr Lac Ladoga|es Lago Ládoga|it Lago Ladoga|fi Laatokka|ru Ладожское озеро',
  ),
];

/**
 * Returns the labels, the most important first. `class` is ocean, sea or lake, `min_zoom` the first zoom, `name:xx` the
 * name in a language. Other languages have the English name, as there is no local one.
 */
export function seaLabels(): Feature<Point>[] {
  return [...oceans, ...seas, ...lakes].flatMap(({ name, class: of, places, names }) => {
    const translated = Object.fromEntries([...names].map(([language, text]) => [`name:${language}`, text]));
    return places.map(([longitude, latitude, minZoom]) => ({
      type: 'Feature' as const,
      geometry: { type: 'Point' as const, coordinates: [longitude, latitude] },
      properties: { name, ...translated, class: of, min_zoom: minZoom },
    }));
  });
}
