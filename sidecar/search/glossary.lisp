;;;; Tasks in other languages than code's English: what their words for things of programs are called there, and the words of
;;;; their grammar, which say nothing. A word is known by how it begins (`konfigur' of Konfiguration, konfigurieren); Chinese,
;;;; Japanese and Korean, which write no spaces, by what stands within.

(defpackage #:opl.search.glossary
  (:use #:cl)
  (:import-from #:opl.search.reading #:map-words)
  (:export #:tongue #:tongue-of #:tongue-name #:tongue-grammar #:map-meanings))
(in-package #:opl.search.glossary)

(defstruct tongue
  (name "" :type string)
  (grammar (make-hash-table :test 'equal) :type hash-table) ; words that say nothing
  (stems (make-hash-table :test 'equal) :type hash-table)   ; beginnings of words -> English words
  (within-p nil))                                           ; stems stand anywhere within a text

(defun words-of (text)
  (loop with start = 0
        for end = (position #\Space text :start start)
        when (< start (or end (length text))) collect (subseq text start end)
        while end do (setf start (1+ end))))

(defvar *tongues* '() "In order of definition, which decides between equals.")

(defun define-tongue (name grammar entries &key within)
  "ENTRIES: strings `stem,stem english english'."
  (let ((tongue (make-tongue :name name :within-p within)))
    (dolist (word (words-of grammar)) (setf (gethash word (tongue-grammar tongue)) t))
    (dolist (entry entries)
      (dolist (text (parts-of entry))
        (destructuring-bind (stems &rest english) (words-of text)
          (loop with start = 0
                for end = (position #\, stems :start start)
                do (setf (gethash (subseq stems start end) (tongue-stems tongue)) english)
                while end do (setf start (1+ end))))))
    (setf *tongues* (append *tongues* (list tongue)))))

(defun parts-of (entry)
  "The parts of ENTRY between semicolons."
  (loop with start = 0
        for end = (position #\; entry :start start)
        collect (string-trim " " (subseq entry start end))
        while end do (setf start (1+ end))))

(define-tongue "German"
  "der die das und ist nicht ein eine einen einer einem dem den des im mit für von zu zum zur beim bei auf wird werden wurde wenn aber oder auch nach aus wie kann sich es wo bitte sind hat haben nur noch schon sehr mehr als dass was warum funktioniert geht"
  '("fehler error; absturz,abstürz,stürzt crash; konfigur config; einstellung settings config; datei file; verzeichnis,ordner directory folder; pfad path; benutzer,nutzer user; anmeld login; abmeld logout"
    "passwort,kennwort password; berechtig permission; speicher save memory storage; laden,lädt,geladen load; lösch,gelösch delete remove; hinzuf,hinzugef add; änder,geänder change update; umbenenn,umbenann rename"
    "suche,suchen search; anzeig,angezeig,darstell display show render; ausgab output; eingab input; abfrag query; anfrag request; antwort response; verbind,verbund connection connect; zeitüber timeout; datenbank database"
    "tabelle table; spalte column; zeile line row; zeichenkett string; zeichen character char; kodier,codier encoding; sprache language locale; übersetz translation; datum date; uhrzeit time; zeitzone timezone; zahlen number; sortier,reihenfolg sort order"
    "schlüssel key; wert value; schnittstell interface api; klasse class; methode method; funktion function; aufruf,aufgeruf call; rückgab return; schleife loop; prüf,überprüf,geprüf check validate; ungültig invalid; leer,leere empty; doppelt duplicate; fehlend,fehlt missing"
    "befehl command; kommandozeil command cli; protokoll log protocol; nachricht,meldung message; warnung warning; schaltfläch,knopf button; fenster window; seite page; bild image; farbe color; größe size; breite width; höhe height; netzwerk network; herunterlad download; hochlad upload"
    "verschlüssel encrypt; sitzung session; sperre lock; warteschlang queue; langsam performance slow; abhängig dependency; aktualisier update; einfüg insert; kopier copy; verschieb move; einles,lesen read; schreib,geschrieb write; parsen,geparst parse; vorlage template; vererb inherit"))

(define-tongue "French"
  "le la les des un une du et est pas ne dans pour sur avec que qui quand au aux ce cette il elle sont plus mais ou où comment lors de en si être fait par se son sa ses sans"
  '("erreur error; plantage crash; configur config; paramètr parameter settings; fichier file; répertoire,dossier directory folder; chemin path; utilisateur user; connexion connection login; déconn logout disconnect; autoris permission authorize; enregistr,sauvegard save; mémoire memory"
    "charger,chargement,chargé load; supprim delete remove; ajout add; renomm rename; recherch search; affich display show render; sortie output; entrée input entry; requête request query; réponse response; délai timeout delay; données data database; tableau array table; colonne column; ligne line row"
    "caractère character char; chaîne string; encodage encoding; langue language locale; traduc,traduire translation; heure time; fuseau timezone; nombre number; tri,trier sort; clé,clef key; valeur value; classe class; méthode method; fonction function; appel,appelé call; boucle loop; vérif check validate"
    "vide empty; doublon duplicate; manquant missing; commande command; avertiss warning; bouton button; fenêtre window; couleur color; taille size; largeur width; hauteur height; réseau network; télécharg download upload; chiffr encrypt; verrou lock; lent,lente slow performance; paquet package"
    "dépend dependency; copier copy; déplac move; lire,lecture read; écrire,écrit write; analys parse; modèle model template; jeton token; serveur server; héritage inherit"))

(define-tongue "Spanish"
  "el la los las un una de del y no en por para con que se al cuando es está como pero más sin si su lo son al este esta hay porque desde hasta cómo dónde"
  '("fallo,falla failure crash; configur config; archivo,fichero file; directorio,carpeta directory folder; ruta path route; usuario user; contraseña password; sesión session; permiso permission; guardar,guardad save; memoria memory; cargar,cargad load; elimin,borrar,borrad delete remove; agregar,añad add; cambiar,cambio change; renombr rename"
    "buscar,búsqueda search; mostrar,muestra show display render; salida output; entrada input; consulta query; solicitud,petición request; respuesta response; conexión connection; espera wait timeout; datos data database; tabla table; columna column; línea,fila line row; carácter,caracter character char; cadena string"
    "codific encoding; idioma language locale; traduc translation; fecha date; hora time; número number; ordenar,orden sort order; clave key; valor value; clase class; método method; función function; llamada call; bucle loop; vacío,vacía empty; falta missing; comando command; registro log record register; mensaje message"
    "advertencia warning; botón button; ventana window; página page; imagen image; tamaño size; ancho width; descarg download; cifrar,cifrado encrypt; bloqueo lock; cola queue; lento slow performance; paquete package; dependencia dependency; copiar copy; mover move; leer,lectura read; escrib write; analiz parse; plantilla template; servidor server"))

(define-tongue "Portuguese"
  "o os as um uma de do da dos das e não em no na nos nas por para com que se ao quando é está como mas mais sem ou seu sua são foi este esta isso porque onde"
  '("erro error; falha failure; configur config; arquivo,ficheiro file; diretório,pasta directory folder; caminho path; usuário,utilizador user; senha password; sessão session; permiss permission; salvar,salvo,guardar save; memória memory; carregar,carrega load; remover,removid,excluir,excluíd,apag delete remove; adicionar add; alterar,mudar change; renomear rename"
    "buscar,busca,pesquis search; mostrar,exibir show display render; saída output; entrada input; consulta query; requisi request; resposta response; conexão connection; dados data database; tabela table; coluna column; linha line row; caractere character char; cadeia string; codific encoding; idioma language locale; tradu translation"
    "hora time; número number; ordenar,ordem sort order; chave key; valor value; classe class; método method; função function; chamada call; vazio,vazia empty; comando command; registro log record; mensagem message; aviso warning; botão button; janela window; página page; imagem image; tamanho size; largura width; altura height; rede network"
    "baixar download; criptograf encrypt; bloqueio lock; fila queue; lento slow performance; pacote package; dependência dependency; copiar copy; mover move; ler,leitura read; escrev write; analisar parse; modelo model template; servidor server"))

(define-tongue "Italian"
  "il lo gli le un una di del della dei che e non in per con quando è come ma più se al dal nel nella sono questo questa senza o perché dove"
  '("errore error; configur config; cartella directory folder; percorso path; utente user; sessione session; permess permission; salvare,salva save; memoria memory; caric load; elimin,cancellare delete remove; aggiung add; modific change; rinomin rename; cercare,ricerca search; mostrare,mostra show display render; richiesta request; risposta response"
    "connessione connection; tabella table; colonna column; riga line row; carattere character; stringa string; codifica encoding; lingua language locale; traduzion translation; numero number; ordinare,ordine sort order; chiave key; valore value; classe class; metodo method; funzione function; chiamata call; vuoto,vuota empty; comando command"
    "messaggio message; avviso warning; pulsante button; finestra window; pagina page; immagine image; dimensione size; rete network; scaricare download; blocco lock; coda queue; lento slow performance; pacchetto package; dipendenz dependency; copiare copy; leggere,lettura read; scrivere,scrittura write; analizz parse; modello model template"))

(define-tongue "Russian"
  "и в во не на с со по для что как при из к у о об от это или но если когда за до то же бы ли где есть после почему"
  '("ошибк error; настройк settings config; конфигур config; файл file; папк,каталог,директор directory folder; путь,пути path; пользовател user; парол password; вход,авториз login auth; сесси session; права permission; сохран save; памят memory; кэш,кеш cache; загруз load download; удал delete remove; добав add; измен change update; переимен rename"
    "поиск,искать search; отображ,показ display show render; вывод output; ввод input; запрос request query; ответ response; соединен,подключ connection; таймаут timeout; баз database; данны data; таблиц table; столб column; строк string line row; символ character; кодиров encoding; язык language locale; перевод translation; дата,даты date; время,времен time"
    "числ number; списк,список list; сортир sort; ключ key; значени value; интерфейс interface; класс class; метод method; функци function; вызов,вызыва call; цикл loop; провер check validate; пуст empty; команд command; журнал log; сообщени message; предупрежд warning; кнопк button; окно,окна window; страниц page; изображ image; размер size; сеть,сети network"
    "шифр encrypt; блокир lock; очеред queue; медлен slow performance; пакет package; зависим dependency; обнов update; копир copy; чтени,читат read; запис write record; разбор,парс parse; шаблон template; тест test; исключени exception; сервер server; клиент client; маршрут route"))

(define-tongue "Chinese" ""
  '("错误,錯誤 error; 崩溃 crash; 异常 exception; 配置 config; 设置,設置 settings config; 文件 file; 目录 directory; 路径 path; 用户,用戶 user; 密码 password; 登录,登入 login; 注销 logout; 会话 session; 权限 permission; 保存 save; 内存 memory; 缓存 cache; 加载 load; 删除,刪除 delete remove; 添加,新增 add; 修改 change modify; 重命名 rename; 搜索 search; 查找 find search"
    "显示 display show; 渲染 render; 输出 output; 输入 input; 请求 request; 响应 response; 连接 connection; 超时 timeout; 数据库 database; 数据 data; 表格 table; 字符串 string; 字符 character; 编码 encoding; 语言 language; 翻译 translation; 日期 date; 时间 time; 时区 timezone; 列表 list; 排序 sort; 接口 interface api; 方法 method; 函数 function; 调用 call; 循环 loop; 检查 check"
    "验证 validate; 重复 duplicate; 缺少,缺失 missing; 命令 command; 日志 log; 消息 message; 警告 warning; 按钮 button; 窗口 window; 页面 page; 图片,图像 image; 颜色 color; 大小 size; 网络 network; 下载 download; 上传 upload; 加密 encrypt; 队列 queue; 性能 performance; 依赖 dependency; 安装 install; 更新 update; 复制 copy; 移动 move; 读取 read; 写入 write; 解析 parse parser"
    "路由 route router; 模板 template; 组件 component; 测试 test; 线程 thread; 中间件 middleware; 插件 plugin; 令牌 token; 服务器 server; 客户端 client; 索引 index; 查询 query; 处理器 handler; 序列化 serialize; 继承 inherit")
  :within t)

(define-tongue "Japanese" ""
  '("エラー error; 例外 exception; クラッシュ crash; 設定 config settings; ファイル file; ディレクトリ directory; フォルダ folder; ユーザ user; パスワード password; ログイン login; セッション session; 権限 permission; 保存 save; メモリ memory; キャッシュ cache; 読み込 load read; 削除 delete remove; 追加 add; 変更 change; 検索 search; 表示 display show; 描画 render; 出力 output; 入力 input"
    "リクエスト request; レスポンス response; 接続 connection; タイムアウト timeout; データベース database; テーブル table; 文字列 string; エンコード encoding; 言語 language; 翻訳 translation; 日付 date; 時刻 time; 数値 number; リスト list; ソート,並び替え sort; クラス class; メソッド method; 関数 function; 呼び出 call; 検証 validate; コマンド command; ログ log; メッセージ message; 警告 warning"
    "ボタン button; ページ page; 画像 image; サイズ size; ダウンロード download; 暗号化 encrypt; ロック lock; キュー queue; 依存 dependency; コピー copy; 書き込 write; 解析,パース,パーサ parse parser; ルーティング,ルート route router; テンプレート template; コンポーネント component; テスト test; トークン token; サーバ server; クライアント client; 継承 inherit; スレッド thread")
  :within t)

(define-tongue "Korean" ""
  '("오류,에러 error; 예외 exception; 설정 config settings; 파일 file; 디렉터리,디렉토리 directory; 폴더 folder; 경로 path; 사용자 user; 비밀번호 password; 로그인 login; 세션 session; 권한 permission; 저장 save; 메모리 memory; 캐시 cache; 삭제 delete remove; 추가 add; 변경 change; 검색 search; 표시 display show; 렌더링 render; 출력 output; 입력 input; 요청 request; 응답 response; 연결 connection"
    "데이터베이스 database; 테이블 table; 문자열 string; 인코딩 encoding; 언어 language; 번역 translation; 날짜 date; 시간 time; 목록 list; 정렬 sort; 클래스 class; 메서드,메소드 method; 함수 function; 호출 call; 검증 validate; 명령 command; 로그 log; 메시지 message; 경고 warning; 버튼 button; 페이지 page; 이미지 image; 크기 size; 네트워크 network; 다운로드 download; 암호화 encrypt"
    "파싱,파서 parse parser; 라우트,라우터 route router; 템플릿 template; 컴포넌트 component; 테스트 test; 토큰 token; 서버 server; 클라이언트 client; 의존 dependency; 상속 inherit; 스레드 thread")
  :within t)

;;; Which language a task is in

(defparameter *english*
  (let ((table (make-hash-table :test 'equal)))
    (dolist (word (words-of "the is are of to and in for not when with that this it on be by from as an if has have was should but does") table)
      (setf (gethash word table) t)))
  "Words of English grammar that are none of another language's.")

(defconstant +telling-characters+ 3000 "Characters by which a task's language is told.")
(defconstant +read-characters+ 20000 "Characters within which words are looked for where no spaces are written.")
(defconstant +few-words+ 6 "Words of a task of which one is enough to tell its language.")

(defun beginning (text count) (subseq text 0 (min (length text) count)))

(defparameter *known*
  (let ((table (make-hash-table :test 'equal)))
    (dolist (tongue *tongues* table)
      (unless (tongue-within-p tongue)
        (loop for stem being the hash-keys of (tongue-stems tongue) do (push tongue (gethash stem table))))))
  "Beginnings of words to the languages that have them.")

(defparameter *grammar*
  (let ((table (make-hash-table :test 'equal)))
    (dolist (tongue *tongues* table)
      (loop for word being the hash-keys of (tongue-grammar tongue) do (push tongue (gethash word table)))))
  "Words of grammar to their languages.")

(defun tongues-of (word)
  "The languages that WORD, in lower case, may be of."
  (or (gethash word *grammar*)
      (loop for end from (length word) downto 3
            thereis (gethash (if (= end (length word)) word (subseq word 0 end)) *known*))))

(defun stem-of (tongue word)
  "The English words for WORD, in lower case, by the longest stem it begins with; nil when there is none."
  (loop for end from (length word) downto 2
        do (multiple-value-bind (english found) (gethash (subseq word 0 end) (tongue-stems tongue))
             (when found (return english)))))

(defun script-tongue (text)
  "The language of those without spaces that most stems of stand in TEXT, or nil: an English text may quote some."
  (when (> (* 10 (count-if (lambda (c) (> (char-code c) #x2E80)) text)) (count-if #'alpha-char-p text))
    (let ((best nil) (most 0))
      (dolist (tongue *tongues* best)
        (when (tongue-within-p tongue)
          (let ((hits (loop for stem being the hash-keys of (tongue-stems tongue) count (search stem text))))
            (when (> hits most) (setf best tongue most hits))))))))

(defun tongue-of (text)
  "The language that TEXT is written in when it is not English, or nil: the one that most of its words are of, two at least, or one of a few.
An eighth of an English text are words of English grammar."
  (let ((text (beginning text +telling-characters+)) (words '()) (count 0) (english 0) (hits '()))
    (declare (type fixnum count english))
    (map-words (lambda (from to)
                 (let ((word (string-downcase (subseq text from to))))
                   (incf count)
                   (if (gethash word *english*) (incf english) (push word words))))
               text)
    (or (script-tongue text)
        (and (or (<= count +few-words+) (< (* 8 english) count))
             (progn
               (dolist (word words) (dolist (tongue (tongues-of word)) (incf (getf hits tongue 0))))
               (let ((best nil) (most 0))
                 (dolist (tongue *tongues*)
                   (let ((own (getf hits tongue 0))) (when (> own most) (setf best tongue most own))))
                 ;; a log or code with a word that looks foreign is none
                 (and (> most english) (or (>= most 2) (<= count +few-words+)) (> (* 5 most) count) best)))))))

(defun map-meanings (function tongue text)
  "Calls FUNCTION with each English word that a word of TEXT, in TONGUE, stands for."
  (if (tongue-within-p tongue)
      (let ((text (beginning text +read-characters+)))
        (loop for stem in (sort (loop for stem being the hash-keys of (tongue-stems tongue) when (search stem text) collect stem) #'string<)
              do (mapc function (gethash stem (tongue-stems tongue)))))
      (map-words (lambda (from to)
                   (mapc function (stem-of tongue (string-downcase (subseq text from to)))))
                 text)))
